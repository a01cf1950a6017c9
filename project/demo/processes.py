"""The web server and the worker: started, watched, started again when they die, and ended with the demo."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from project.demo.workspace import BASE_DIR, Workspace, shown

GRACE_SECONDS = 10
RESTARTS = 5


class StartError(Exception):
    """A process could not be started; the message says where to look."""


@dataclass(slots=True)
class Child:
    name: str
    command: Sequence[str]
    workspace: Workspace
    process: subprocess.Popen[bytes] | None = None
    restarts: int = 0

    @property
    def log(self) -> Path:
        return self.workspace.logs / f"{self.name.replace(' ', '-')}.log"

    def start(self) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            # A session of its own: Ctrl-C reaches the demo alone, which then ends its children in order.
            self.process = subprocess.Popen(
                self.command,
                cwd=BASE_DIR,
                env=self.workspace.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=[self.workspace.lock.fileno()],
            )
        self.workspace.note_process(self.name, self.process.pid)

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def last_words(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return "\n".join((f"The end of {shown(self.log)}:", *lines[-12:]))

    def ask_to_end(self) -> None:
        if self.process is not None:
            self.process.terminate()

    def end(self, seconds: float = 0) -> None:
        """Wait that long, then kill the whole group: a worker that was killed leaves pool processes behind."""
        if self.process is None:
            return
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@dataclass(slots=True)
class Supervisor:
    """Starts children and keeps them running; `say` gets a sentence whenever one has died."""

    say: Callable[[str], None]
    children: list[Child] = field(default_factory=list)
    _ending: threading.Event = field(default_factory=threading.Event)
    _watcher: threading.Thread | None = None

    def start(self, child: Child, ready: Callable[[], bool], seconds: float = 60) -> None:
        """Start `child` and wait until `ready()`. Raises StartError when it exits before, or takes too long."""
        self.children.append(child)
        child.start()
        deadline = time.monotonic() + seconds
        while not ready():
            if not child.running:
                raise StartError(f"The {child.name} ended while starting. {child.last_words()}")
            if time.monotonic() > deadline:
                raise StartError(f"The {child.name} was not ready after {seconds:.0f} s. {child.last_words()}")
            time.sleep(0.1)

    def watch(self) -> None:
        self._watcher = threading.Thread(target=self._watch, name="demo-supervisor", daemon=True)
        self._watcher.start()

    def _watch(self) -> None:
        while not self._ending.wait(0.3):
            for child in self.children:
                if not child.running and child.restarts <= RESTARTS:
                    self._revive(child)

    def _revive(self, child: Child) -> None:
        child.restarts += 1
        child.end()
        if child.restarts > RESTARTS:
            self.say(f"The {child.name} died {child.restarts} times and stays down. See {shown(child.log)}.")
            return
        self.say(f"The {child.name} has died; starting it again.")
        child.start()

    def stop(self) -> None:
        self._ending.set()
        if self._watcher is not None:
            self._watcher.join()
        for child in self.children:
            child.ask_to_end()
        deadline = time.monotonic() + GRACE_SECONDS
        for child in self.children:
            child.end(max(0.0, deadline - time.monotonic()))


def web_server(workspace: Workspace, port: int) -> Child:
    command = ("waitress", f"--listen=127.0.0.1:{port}", "--threads=8", "project.wsgi:application")
    return Child("web server", (sys.executable, "-m", *command), workspace)


def worker(workspace: Workspace) -> Child:
    command = ("celery", "-A", "project", "worker", "--beat", "--concurrency=2", "--loglevel=INFO")
    return Child("worker", (sys.executable, "-m", *command), workspace)


def manage(workspace: Workspace, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `manage.py` to its end, in this run's environment."""
    command = (sys.executable, "manage.py", *arguments)
    return subprocess.run(
        command, cwd=BASE_DIR, env=workspace.environment(), capture_output=True, text=True, check=False
    )


def free_port(wanted: int) -> int:
    """`wanted`, or the next port that nobody listens on, or any."""
    for port in (*range(wanted, min(wanted + 20, 65536)), 0):
        with socket.socket() as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise StartError("No free port was found.")
