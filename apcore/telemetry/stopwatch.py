"""How long a call takes, for middleware that only watches (§12.7.6)."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from apcore.context import Context


class Stopwatch:
    """The starts of calls under way. They are kept in ``context.data``, so they end with the chain that they are of."""

    __slots__ = ("_key",)

    def __init__(self, name: str) -> None:
        self._key = f"_apcore.{name}.started"

    def start(self, context: Context) -> None:
        """The call of this context begins now."""
        started = context.data.get(self._key)
        if started is None:
            started = context.data.setdefault(self._key, {})
        started[id(context)] = perf_counter()

    def stop(self, context: Context) -> float | None:
        """The milliseconds since the start; None for a call that was never started or is stopped already."""
        started: dict[int, Any] | None = context.data.get(self._key)
        at = started.pop(id(context), None) if started else None
        return None if at is None else (perf_counter() - at) * 1000
