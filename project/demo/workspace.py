"""The folder that one run of the demo lives in: its database, queue, mail, logs, and a lock that says it is in use."""

import fcntl
import os
import shutil
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO

BASE_DIR = Path(__file__).resolve().parents[2]
VAR_DIR = Path(os.environ.get("DEMO_VAR_DIR") or BASE_DIR / "var").absolute()
REPORT = VAR_DIR / "demo-report.json"


@dataclass(frozen=True, slots=True)
class Workspace:
    folder: Path
    lock: IO[str]
    notices: tuple[str, ...]

    @property
    def database(self) -> Path:
        return self.folder / "db.sqlite3"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def mail(self) -> Path:
        return self.folder / "mail"

    @property
    def payments(self) -> Path:
        return self.folder / "payments.jsonl"

    def note_process(self, name: str, pid: int) -> None:
        with (self.folder / "processes").open("a", encoding="utf-8") as file:
            file.write(f"{name} {pid}\n")

    def environment(self) -> dict[str, str]:
        """The environment of every process of this run; what the reader has set for another project stays out."""
        own = {name: value for name, value in os.environ.items() if not name.startswith(("APCORE_", "DJANGO_"))}
        return own | {
            "DJANGO_SETTINGS_MODULE": "project.settings",
            "APCORE_VAR_DIR": str(self.folder),
            "STORE_PAYMENT_GATEWAY": self.payments.as_uri(),
            "DJANGO_APCORE_WEBHOOK_ALLOW_PRIVATE": "true",  # the receiver of the story is on this machine
            "PYTHONUNBUFFERED": "1",
        }


def open_workspace() -> Workspace:
    """The first folder of var/demo, var/demo-2, … that no running demo holds, swept clean of the last run."""
    notices: list[str] = []
    for number in count(1):
        folder = VAR_DIR / ("demo" if number == 1 else f"demo-{number}")
        lock = try_lock(folder)
        if lock is not None:
            return Workspace(folder, lock, (*notices, *sweep(folder)))
        notices.append(f"{shown(folder)} is in use by an earlier demo that is left alone{running_in(folder)}.")
    raise AssertionError("unreachable")


def try_lock(folder: Path) -> IO[str] | None:
    """Processes that are started with the lock's descriptor hold it too, so it outlives a demo that was killed."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = (folder / "lock").open("a", encoding="ascii")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def running_in(folder: Path) -> str:
    """Which processes the demo of this folder has started, for a reader who wants to end them."""
    file = folder / "processes"
    return f" (it started: {', '.join(file.read_text().splitlines())})" if file.exists() else ""


def sweep(folder: Path) -> list[str]:
    """Move the last run's database aside, and remove the rest: a message left in the queue would act on the new one."""
    database, previous = folder / "db.sqlite3", folder / "previous"
    notices = []
    if database.exists():
        shutil.rmtree(previous, ignore_errors=True)
        previous.mkdir()
        for file in folder.glob("db.sqlite3*"):
            file.rename(previous / file.name)
        notices.append(f"A database was left from an earlier run; it is now {shown(previous / database.name)}.")
    for name in ("queue", "mail", "logs"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for file in (*folder.glob("celerybeat-schedule*"), folder / "payments.jsonl", folder / "processes"):
        file.unlink(missing_ok=True)
    return notices


def shown(path: Path) -> str:
    """A path as a reader would type it."""
    return str(path.relative_to(BASE_DIR)) if path.is_relative_to(BASE_DIR) else str(path)
