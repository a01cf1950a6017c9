"""Who is using a module right now, so that it can leave without being pulled from under anybody (§12.7.4)."""

from __future__ import annotations

from threading import get_ident
from time import monotonic, sleep

from apcore.errors import ModuleNotFoundError

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.001, 0.02


class Activity:
    """The calls inside of one module instance: `calls` maps whatever stands for a call to the thread that made it.

    A call adds itself before it looks at `is_leaving`, and a leaving module is marked before it looks for calls; each
    of these is one atomic operation. So one of the two always sees the other, without a lock per call.
    """

    __slots__ = ("calls", "is_leaving")

    def __init__(self) -> None:
        self.calls: dict[object, int] = {}
        self.is_leaving = False
        """Whether the module is "unloading": no call may start in it any more."""

    def inside(self, call: object, module_id: str) -> Stay:
        """Within the block a call is inside. Entering raises ModuleNotFoundError if the module is leaving.

        The execute step has these lines itself, since it runs for every call.
        """
        return Stay(self, call, module_id)

    def refuse(self, module_id: str) -> None:
        """Raises ModuleNotFoundError: a call that has not begun comes too late."""
        raise ModuleNotFoundError(
            f"Module '{module_id}' is being unloaded", module_id=module_id, details={"module_id": module_id}
        )

    def drained(self, timeout: float) -> bool:
        """Wait until no call is inside, at most `timeout` seconds; whether that came true. Blocks the thread.

        Calls of this very thread are not waited for: they cannot end before we return.
        """
        end, pause, here = monotonic() + timeout, _SHORTEST_PAUSE, get_ident()
        while threads := list(self.calls.values()):
            left = end - monotonic()
            if left <= 0 or all(each == here for each in threads):
                return False
            sleep(min(pause, left))
            pause = min(pause * 2, _LONGEST_PAUSE)
        return True


class Stay:
    """A call inside of a module instance, for the length of a `with` block."""

    __slots__ = ("_activity", "_call", "_module_id")

    def __init__(self, activity: Activity, call: object, module_id: str) -> None:
        self._activity, self._call, self._module_id = activity, call, module_id

    def __enter__(self) -> None:
        activity = self._activity
        activity.calls[self._call] = get_ident()
        if activity.is_leaving:
            del activity.calls[self._call]
            activity.refuse(self._module_id)

    def __exit__(self, *error: object) -> None:
        del self._activity.calls[self._call]
