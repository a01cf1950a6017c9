"""What a planned module decided to do before doing it: its preview and the input of `apply()`"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from apcore.modules.change import Change, all_changes


@dataclass(frozen=True, slots=True, init=False)
class Plan:
    """The changes that `apply()` will make, and whatever else `apply()` needs to make exactly those.

    `changes` takes any iterable of `Change` and is kept as a tuple. Raises TypeError for other items.
    """

    changes: tuple[Change, ...]
    data: Any

    def __init__(self, changes: Iterable[Change], data: Any = None) -> None:
        object.__setattr__(self, "changes", tuple(all_changes(changes)))
        object.__setattr__(self, "data", data)
