"""Files of a run: none is written, moved or removed, but for those that nobody would miss."""

import importlib
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from prometheus_client import mmap_dict

from django_apcore.effects import OutsideEffectError, governed
from django_apcore.effects.outside import files
from tests.django_apcore.effects.runs import execute, preview

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory with a file and a directory in it, and no place for temporary files, wherever the project lies."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    files._scratch.cache_clear()
    path = Path(tempfile.mkdtemp(dir=settings.VAR_DIR, prefix="test-files-"))
    (path / "old").write_text("as it was")
    (path / "empty").mkdir()
    yield path
    shutil.rmtree(path)
    files._scratch.cache_clear()


def content_of(folder: Path) -> dict[str, Any]:
    return {
        str(each.relative_to(folder)): (each.read_text() if each.is_file() else None, each.stat().st_mode)
        for each in folder.rglob("*")
    }


def by_descriptor(folder: Path) -> None:
    os.close(os.open(folder / "new", os.O_WRONLY | os.O_CREAT))


def by_relative_path(folder: Path) -> None:
    directory = os.open(folder, os.O_RDONLY)
    try:
        os.remove("old", dir_fd=directory)
    finally:
        os.close(directory)


def out_of_a_temporary_one(folder: Path) -> None:
    with tempfile.NamedTemporaryFile() as scratch:
        shutil.copy(scratch.name, folder / "new")


def into_a_temporary_one(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        (folder / "old").rename(Path(scratch) / "new")


WAYS: dict[str, Callable[[Path], object]] = {
    "open to write": lambda folder: (folder / "new").open("w"),
    "open to append": lambda folder: (folder / "old").open("a"),
    "open to change": lambda folder: (folder / "old").open("r+b"),
    "write text": lambda folder: (folder / "old").write_text("new"),
    "a descriptor": by_descriptor,
    "touch": lambda folder: (folder / "new").touch(),
    "touch again": lambda folder: os.utime(folder / "old", (1, 1)),
    "remove": lambda folder: (folder / "old").unlink(),
    "remove by a relative path": by_relative_path,
    "rename": lambda folder: (folder / "old").rename(folder / "new"),
    "replace": lambda folder: (folder / "old").replace(folder / "new"),
    "copy": lambda folder: shutil.copy(folder / "old", folder / "new"),
    "move": lambda folder: shutil.move(folder / "old", folder / "new"),
    "make a directory": lambda folder: (folder / "new").mkdir(),
    "make directories": lambda folder: (folder / "new" / "deep").mkdir(parents=True),
    "remove a directory": lambda folder: (folder / "empty").rmdir(),
    "remove a tree": lambda folder: shutil.rmtree(folder / "empty"),
    "link": lambda folder: os.link(folder / "old", folder / "new"),
    "symbolic link": lambda folder: (folder / "new").symlink_to(folder / "old"),
    "mode": lambda folder: (folder / "old").chmod(0o600),
    "truncate": lambda folder: os.truncate(folder / "old", 0),
    "from a temporary file": out_of_a_temporary_one,
    "to a temporary directory": into_a_temporary_one,
}


@pytest.mark.parametrize("way", WAYS)
def test_no_file_is_changed(way: str, folder: Path) -> None:
    before = content_of(folder)
    with governed(commit=True) as run, pytest.raises(OutsideEffectError) as refused:
        WAYS[way](folder)
    assert content_of(folder) == before
    assert len(run.record.gaps) == 1
    assert run.record.gaps[0].startswith(f"A file was refused before it was changed: {folder}/")
    assert refused.value.details["kind"] == "file"


def test_reading_is_free(folder: Path) -> None:
    def read() -> None:
        (folder / "old").read_text()
        list(folder.iterdir())
        (folder / "empty").mkdir(exist_ok=True)
        (folder / "nothing").unlink(missing_ok=True)

    assert preview(read).complete


def test_temporary_files_and_devices_are_no_effect() -> None:
    def write() -> None:
        with tempfile.TemporaryFile() as one, tempfile.NamedTemporaryFile("w") as other:
            one.write(b"x")
            other.write("x")
        with tempfile.TemporaryDirectory() as directory:
            (Path(directory) / "deep").mkdir()
            (Path(directory) / "deep" / "file").write_text("x")
        Path(os.devnull).write_text("x")

    assert execute(write).complete


def test_another_place_for_temporary_files_counts_as_soon_as_it_is_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert preview(lambda: tempfile.TemporaryFile().close()).complete


def test_a_module_may_be_imported_for_the_first_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "imported_late.py").write_text("x = 1")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert preview(lambda: importlib.import_module("imported_late")).complete
    assert list((folder / "__pycache__").iterdir())
    del sys.modules["imported_late"]


def test_a_line_of_the_log_may_go_to_a_file(folder: Path) -> None:
    logger, handler = logging.getLogger("tests.outside"), logging.FileHandler(folder / "log", delay=True)
    logger.addHandler(handler)
    try:
        assert preview(lambda: logger.warning("to be kept")).complete
    finally:
        logger.removeHandler(handler)
        handler.close()
    assert "to be kept" in (folder / "log").read_text()


def test_a_log_may_be_set_up(folder: Path) -> None:
    assert preview(lambda: logging.FileHandler(folder / "log").close()).complete


def test_standard_output_is_open_already_where_it_is_a_pipe() -> None:
    reading, writing = os.pipe()
    try:
        assert preview(lambda: Path(f"/dev/fd/{writing}").write_text("x")).complete
        assert os.read(reading, 1) == b"x"
    finally:
        os.close(reading)
        os.close(writing)


def test_a_metric_that_processes_share_may_be_new(folder: Path) -> None:
    assert preview(lambda: mmap_dict.MmapedDict(str(folder / "counter_1.db")).close()).complete
    assert (folder / "counter_1.db").exists()


def test_without_a_home_and_a_place_for_temporary_files_nothing_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(*_: Any) -> Any:
        raise FileNotFoundError

    def nobody(*_: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    monkeypatch.setattr(Path, "expanduser", nobody)
    files._scratch.cache_clear()
    try:
        assert "/dev/" in files._scratch()
    finally:
        monkeypatch.undo()
        files._scratch.cache_clear()
