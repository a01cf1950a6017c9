"""The one audit hook of the process. Python asks it before it connects, starts a process or writes a file."""

import inspect
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from django_apcore.effects.active import Run, active_run
from django_apcore.effects.errors import OutsideEffectError
from django_apcore.effects.outside import files, network, processes
from django_apcore.effects.outside.behalf import is_of_the_house

Judge = Callable[[tuple[Any, ...]], str | None]
"""Takes the arguments of an audit event. Gives the target in words, or None for what has no effect outside."""

_REFUSALS: Final = {
    "network": "A connection was refused before it was opened or used: {}",
    "file": "A file was refused before it was changed: {}",
    "process": "A process was refused before it was started: {}",
    "signal": "A signal to a process was refused before it was sent: {}",
}
_JUDGES: Final[dict[str, tuple[str, Judge]]] = {
    **{event: ("network", judge) for event, judge in network.JUDGES.items()},
    **{event: ("file", judge) for event, judge in files.JUDGES.items()},
    **{event: ("process", judge) for event, judge in processes.JUDGES.items()},
    **{event: ("signal", judge) for event, judge in processes.SIGNALS.items()},
}


def refuse_outside(run: Run, kind: str, target: str) -> None:
    """Note a gap and raise OutsideEffectError, unless it is the house or a library of it that asks."""
    if is_of_the_house(inspect.currentframe(), kind):
        return
    sentence = _REFUSALS[kind].format(target)
    if sentence not in run.refused:
        run.refused.append(sentence)
    raise OutsideEffectError(
        f"{sentence}. It would happen at once, in a preview too, and could not be undone.",
        details={"kind": kind, "target": target},
        suggestion="Do it after the commit: in a Celery task, by mail, or in transaction.on_commit(). If it has to "
        "happen meanwhile, the module is not transactional: give it plan() and apply(), or preview().",
    )


@cache
def watch_outside() -> None:
    """Ask before anything leaves the process, for as long as it lives: an audit hook cannot be taken away.

    Almost every event is none of ours, and `id()`, `open()` and `sys._getframe()` raise one: hence one look-up first.
    """
    judged = _JUDGES.get

    def hook(event: str, args: tuple[Any, ...]) -> None:
        found = judged(event)
        if found is not None and (run := active_run()) is not None:
            kind, judge = found
            target = judge(args)
            if target is None:
                return
            try:
                refuse_outside(run, kind, target)
            except OutsideEffectError:
                if event == "socket.connect":
                    args[0].close()  # who connects does so for an OSError alone, and this is none
                raise

    files.know_scratch()
    sys.addaudithook(hook)
    processes.watch_multiprocessing(refuse_outside)
