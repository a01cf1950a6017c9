"""One predicted or measured change of a call, and the result of a module's `preview()` (RFC preview(), §12.8)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from apcore.frozen import field_setters

logger = logging.getLogger(__name__)


class Unset(Enum):
    """Marks a snapshot that was not given; `None` is a snapshot of nothing (JSON null)."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET


@dataclass(frozen=True, slots=True, init=False)
class Change:
    """What a call would do to one thing.

    `action` and `target` are free text, `summary` is one line for a human reader. `before` and `after` hold any JSON
    value and stay `UNSET` when the state cannot be observed. Further keyword arguments must start with `x-` and are
    kept in `extras`. Raises TypeError for a missing or non-text field and for any other key.
    """

    action: str
    target: str
    summary: str
    before: Any
    after: Any
    extras: dict[str, Any]

    def __init__(
        self, action: str, target: str, summary: str, before: Any = UNSET, after: Any = UNSET, **extras: Any
    ) -> None:
        if not type(action) is type(target) is type(summary) is str:
            _require_texts(action=action, target=target, summary=summary)
        for key in extras:
            if not key.startswith("x-"):
                raise TypeError(f"Change has no field {key!r}; extension fields start with 'x-'")
        if "\n" in summary:
            logger.warning("Change.summary should be a single line: %r", summary)
        _set_action(self, action)
        _set_target(self, target)
        _set_summary(self, summary)
        _set_before(self, before)
        _set_after(self, after)
        _set_extras(self, extras)

    def to_dict(self) -> dict[str, Any]:
        """The wire form; `before` and `after` are left out when they were not given."""
        wire: dict[str, Any] = {"action": self.action, "target": self.target, "summary": self.summary}
        if self.before is not UNSET:
            wire["before"] = self.before
        if self.after is not UNSET:
            wire["after"] = self.after
        wire.update(self.extras)
        return wire

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Change:
        """Read the wire form. Raises TypeError as the constructor does, and for what is no mapping."""
        _require_mapping("a Change", data)
        return cls(**data)


_set_action, _set_target, _set_summary, _set_before, _set_after, _set_extras = field_setters(Change)


def _require_texts(**fields: object) -> None:
    for name, value in fields.items():
        if not isinstance(value, str):
            raise TypeError(f"Change.{name} must be text, not {type(value).__name__}")


@dataclass(frozen=True, slots=True, init=False)
class PreviewResult:
    """What `preview()` returns: a wrapper, so that fields can be added later. Raises TypeError for foreign items."""

    changes: list[Change]

    def __init__(self, changes: Iterable[Change]) -> None:
        object.__setattr__(self, "changes", all_changes(changes))

    def to_dict(self) -> dict[str, Any]:
        return {"changes": [change.to_dict() for change in self.changes]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PreviewResult:
        """Read the wire form. Raises TypeError for data of another form."""
        _require_mapping("a PreviewResult", data)
        items = data.get("changes")
        if not isinstance(items, list | tuple):
            raise TypeError(f"changes of a PreviewResult must be a list, not {type(items).__name__}")
        return cls([Change.from_dict(item) for item in items])


def _require_mapping(what: str, data: object) -> None:
    if not isinstance(data, Mapping):
        raise TypeError(f"{what} is read from a mapping, not from {type(data).__name__}")


def all_changes(items: Iterable[Any]) -> list[Change]:
    """The items as a list of their own. Raises TypeError if they are no list, and for one that is not a `Change`."""
    given: object = items
    if type(given) is not list and (isinstance(given, str | Mapping) or not isinstance(given, Iterable)):
        raise TypeError(f"changes must be given as a list of Change, not as {type(given).__name__}")
    changes = list(items)
    for change in changes:
        if not isinstance(change, Change):
            raise TypeError(f"expected a Change, got {type(change).__name__}")
    return changes
