"""Processes that a run would start, or send a signal to."""

import functools
import os
import signal
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import PurePath
from typing import Any, Final

from django_apcore.effects.active import Run, active_run


def _program(args: tuple[Any, ...]) -> str:
    """The name of the program alone: arguments may be secret, and differ at every run."""
    path = args[0]
    if path is None:  # a process that is a command line
        path = args[1][0] if isinstance(args[1], list | tuple) else args[1]
    return PurePath(os.fsdecode(path)).name


def _command(args: tuple[Any, ...]) -> str:
    """The first word of a command line."""
    words = os.fsdecode(args[0]).split(maxsplit=1)
    return PurePath(words[0]).name if words else "a shell"


def _copy(args: tuple[Any, ...]) -> str:
    return "a copy of this one"


JUDGES: Final[dict[str, Callable[[tuple[Any, ...]], str | None]]] = {
    "subprocess.Popen": _program,
    "os.posix_spawn": _program,
    "os.exec": _program,
    "os.system": _command,
    "os.fork": _copy,
    "os.forkpty": _copy,
}


def _signal(args: tuple[Any, ...]) -> str | None:
    """`os.kill` and `os.killpg`: signal 0 only asks whether there is such a process."""
    number = int(args[1])
    if number == 0:
        return None
    return next((each.name for each in signal.Signals if each == number), str(number))


SIGNALS: Final[dict[str, Callable[[tuple[Any, ...]], str | None]]] = {"os.kill": _signal, "os.killpg": _signal}


def watch_multiprocessing(refuse: Callable[[Run, str, str], None]) -> None:
    """Ask before `multiprocessing` starts a process: how it spawns one raises no audit event. Idempotent."""
    original = BaseProcess.start
    if hasattr(original, "asks_run"):
        return

    @functools.wraps(original)
    def start(process: BaseProcess) -> None:
        run = active_run()
        if run is not None:
            refuse(run, "process", "a copy of this one")
        original(process)

    start.asks_run = True  # type: ignore[attr-defined]  # a mark of ours
    BaseProcess.start = start  # type: ignore[method-assign, assignment]  # the hook itself
