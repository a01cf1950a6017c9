"""The demonstration as a newcomer runs it, in a process of its own."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from project.demo.workspace import BASE_DIR, try_lock

pytestmark = pytest.mark.demo

PATIENCE_SECONDS = 300
STEPS_OF_THE_PROMISE = {
    "ask",
    "sign",
    "collect",
    "drift",
    "sign_again",
    "notify",
    "refund",
    "look_only",
    "reject",
    "switch_off",
    "hear",
    "switch_on",
    "audit",
    "export",
    "health",
    "usage",
}


def environment(var: Path, **options: str) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("DEMO_")}
    return own | {"DEMO_VAR_DIR": str(var), "PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "default"} | options


def report(var: Path) -> Any:
    return json.loads((var / "demo-report.json").read_text())


def wait_for(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (value := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return value


def test_every_step_holds(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "project.demo"],
        cwd=BASE_DIR,
        env=environment(tmp_path, DEMO_SERVE="0"),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = report(tmp_path)
    assert told["ok"]
    assert {step["name"] for step in told["steps"] if step["ok"]} >= STEPS_OF_THE_PROMISE
    assert told["approved_digest"] == told["committed_digest"]
    assert told["rows_changed"] == told["rows_predicted"] > 0
    assert told["audit_chain_verified"] is told["audit_export_verified"] is True
    assert told["webhook_deliveries_verified"] > 0


@pytest.fixture
def busy_port() -> Iterator[int]:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        yield int(busy.getsockname()[1])


def test_a_busy_port_an_old_database_a_killed_worker_and_ctrl_c(tmp_path: Path, busy_port: int) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "db.sqlite3").write_text("left over")
    options = environment(tmp_path, DEMO_PORT=str(busy_port), DEMO_PASSWORD="a password to try")
    output = tmp_path / "output.txt"
    with output.open("w") as out:
        demo = subprocess.Popen(
            [sys.executable, "-m", "project.demo"], cwd=BASE_DIR, env=options, stdout=out, stderr=subprocess.STDOUT
        )
    try:
        wait_for(lambda: demo.poll() is not None or "Your turn" in output.read_text())
        said = output.read_text()
        assert f"Port {busy_port} is in use" in said
        assert "A database was left from an earlier run" in said
        assert "a password to try" in said
        assert report(tmp_path)["ok"], said
        assert requests.get(report(tmp_path)["left_pending"]["url"], timeout=30).status_code == 200

        (worker,) = re.findall(r"^worker (\d+)$", (tmp_path / "demo" / "processes").read_text(), re.MULTILINE)
        os.kill(int(worker), signal.SIGKILL)
        wait_for(lambda: "The worker has died; starting it again." in output.read_text())
        demo.send_signal(signal.SIGINT)
        assert demo.wait(timeout=60) == 0
        assert "Traceback" not in output.read_text()
    finally:
        demo.kill()
        demo.wait()
    lock = try_lock(tmp_path / "demo")
    assert lock is not None, "a process of the demo is still running"
    lock.close()
