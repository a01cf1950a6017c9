"""Who is using a module right now, so that it can leave without being pulled from under anybody (§12.7.4)."""

from __future__ import annotations

from threading import get_ident
from time import monotonic, sleep
from typing import Final

from apcore.errors import ModuleNotFoundError

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.001, 0.02

Activity = dict[object, int]
"""The calls inside of one module instance: whatever stands for a call, and the thread that made it.

A call adds itself before it looks for `LEAVING`, and `LEAVING` is added before anybody looks for calls; each of these
is one atomic operation. So one of the two always sees the other, without a lock per call. A plain dictionary, because
there may be thousands of modules without a call, and an empty one costs next to nothing.
"""

LEAVING: Final = object()
"""In the activity of a module that is "unloading": no call may start in it any more."""


def leave(activity: Activity) -> None:
    """Mark the module: from now on no call starts in it."""
    activity[LEAVING] = 0


def stay(activity: Activity) -> None:
    """Take the mark away."""
    activity.pop(LEAVING, None)


def refuse(module_id: str) -> None:
    """Raises ModuleNotFoundError: a call that has not begun comes too late."""
    raise ModuleNotFoundError(
        f"Module '{module_id}' is being unloaded", module_id=module_id, details={"module_id": module_id}
    )


def threads_inside(activity: Activity) -> list[int]:
    """The thread of each call."""
    return [thread for call, thread in activity.copy().items() if call is not LEAVING]


def drained(activity: Activity, timeout: float) -> bool:
    """Wait until no call is inside, at most `timeout` seconds; whether that came true. Blocks the thread.

    Calls of this very thread are not waited for: they cannot end before we return.
    """
    end, pause, here = monotonic() + timeout, _SHORTEST_PAUSE, get_ident()
    while threads := threads_inside(activity):
        left = end - monotonic()
        if left <= 0 or all(each == here for each in threads):
            return False
        sleep(min(pause, left))
        pause = min(pause * 2, _LONGEST_PAUSE)
    return True
