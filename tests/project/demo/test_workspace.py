"""The demo's folder: one per running demo, and nothing in it from the last one."""

import subprocess
import sys
from pathlib import Path

import pytest

from project.demo import workspace
from project.demo.workspace import Workspace, open_workspace


@pytest.fixture(autouse=True)
def var(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(workspace, "VAR_DIR", tmp_path)
    return tmp_path


def close(opened: Workspace) -> None:
    opened.lock.close()


def test_a_running_demo_keeps_its_folder_and_the_next_takes_another(var: Path) -> None:
    first, second = open_workspace(), open_workspace()
    assert (first.folder, second.folder) == (var / "demo", var / "demo-2")
    assert "in use by an earlier demo" in second.notices[0]
    close(first)
    close(second)


def test_a_process_that_outlives_its_demo_keeps_the_folder(var: Path) -> None:
    opened = open_workspace()
    command = [sys.executable, "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[opened.lock.fileno()]) as orphan:
        close(opened)
        opened.note_process("orphan", orphan.pid)
        second = open_workspace()
        assert second.folder == var / "demo-2"
        assert f"orphan {orphan.pid}" in second.notices[0]
        close(second)
        orphan.communicate(b"\n")
    third = open_workspace()
    assert third.folder == var / "demo"
    close(third)


def test_what_the_last_run_left_is_moved_or_removed(var: Path) -> None:
    folder = var / "demo"
    for leftover in (
        "queue/messages/1.msg",
        "mail/1.log",
        "db.sqlite3",
        "db.sqlite3-wal",
        "payments.jsonl",
        "secret_key",
    ):
        (folder / leftover).parent.mkdir(parents=True, exist_ok=True)
        (folder / leftover).write_text("old")
    opened = open_workspace()
    left = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    assert left == {"lock", "secret_key", "previous/db.sqlite3", "previous/db.sqlite3-wal"}
    assert len(opened.notices) == 1
    assert "previous/db.sqlite3" in opened.notices[0]
    close(opened)


def test_the_readers_own_settings_do_not_reach_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APCORE_DATABASE_URL", "postgresql://production/orders")
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "shop.settings")
    opened = open_workspace()
    environment = opened.environment()
    assert "APCORE_DATABASE_URL" not in environment
    assert environment["DJANGO_SETTINGS_MODULE"] == "project.settings"
    assert environment["APCORE_VAR_DIR"] == str(opened.folder)
    close(opened)
