"""What a log may say about an exception: kinds and places. Its text, and source lines, may hold secrets (§8.3)."""

from __future__ import annotations

import traceback
from typing import Final

_FRAMES: Final = 30  # a driver's error lies 20 below the line of a module that saved a row


def places_of(error: BaseException) -> str:
    """Where it came from, innermost last: a line ``file:number in function`` for each of the last thirty frames."""
    frames = traceback.extract_tb(error.__traceback__, limit=-_FRAMES)
    return "".join(f"\n  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames)


def told(error: BaseException | None) -> str:
    """Its kind, those of its causes, and where they came from."""
    parts: list[str] = []
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        parts.append(type(error).__name__ + places_of(error))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\ncaused by ".join(parts)
