"""What happened, as data (§9.16)."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType, NoneType
from typing import Any, Final, Literal, get_args

from apcore.errors import InvalidInputError, require
from apcore.plain import plain

Severity = Literal["info", "warn", "error"]
SEVERITIES: Final[tuple[str, ...]] = get_args(Severity)
"""From the mildest to the gravest."""

_TYPE: Final = re.compile(r"[a-z][a-z0-9-]*(\.[a-z0-9_]+)+")


_KINDS: Final[Mapping[str, tuple[Any, str]]] = {
    "data": (Mapping, "a mapping"),
    "module_id": ((str, NoneType), "a text or None"),
    "trace_id": ((str, NoneType), "a text or None"),
    "timestamp": (datetime, "a datetime"),
}


def _now() -> datetime:
    return datetime.now(UTC)


def _new_id() -> str:
    return uuid.uuid4().hex


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened (§9.16).

    ``type`` is a dotted name whose first part says who emits it: ``billing.invoice_generated``. ``data`` holds JSON
    values as they were when the event was made: it may be told much later. ``timestamp`` is aware, in UTC. ``event_id``
    tells a second delivery of the same event from another event.

    Raises InvalidInputError for a type without a dot or with other characters (§9.16.1), for an unknown severity and
    for a timestamp without a time zone.
    """

    type: str
    data: Mapping[str, Any] = field(default_factory=dict)
    module_id: str | None = None
    severity: Severity = "info"
    timestamp: datetime = field(default_factory=_now)
    trace_id: str | None = None
    event_id: str = field(default_factory=_new_id)

    def __post_init__(self) -> None:
        kind: object = self.type
        if not isinstance(kind, str) or not _TYPE.fullmatch(kind):
            raise InvalidInputError(
                f"{self.type!r} is no event type: it takes dotted lower-case names such as 'billing.invoice_generated'",
                details={"type": self.type},
            )
        if self.severity not in SEVERITIES:
            raise InvalidInputError(f"An event is one of {', '.join(SEVERITIES)}, not {self.severity!r}")
        _require_kinds(self)
        if self.timestamp.tzinfo is None:
            raise InvalidInputError(f"The timestamp of '{self.type}' needs a time zone")
        object.__setattr__(self, "data", MappingProxyType(_kept(dict(self.data))))

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, as files and webhooks get it; the timestamp in ISO 8601, UTC, with a ``Z``."""
        return {
            "event_id": self.event_id,
            "type": self.type,
            "severity": self.severity,
            "timestamp": self.timestamp.astimezone(UTC).isoformat().replace("+00:00", "Z"),
            "module_id": self.module_id,
            "trace_id": self.trace_id,
            "data": dict(self.data),
        }

    def to_json(self) -> str:
        """``to_dict()`` on one line. What JSON cannot hold is written as its text, a number that is none as null."""
        return json.dumps(plain(self.to_dict()), ensure_ascii=False, separators=(",", ":"))


def _require_kinds(event: Event) -> None:
    """What is of another type would fail later, on the way to a subscriber, where nobody knows who made it."""
    for name, (kind, words) in _KINDS.items():
        require(f"{name} of '{event.type}'", getattr(event, name), kind, words)


def _kept(data: dict[str, Any]) -> dict[str, Any]:
    try:
        kept: dict[str, Any] = _copied(data, {})
        return kept
    except RecursionError:
        return data  # so deep that nobody will be told of it


def _copied(value: Any, known: dict[int, Any]) -> Any:
    """A copy of objects and lists, however they hang together, with everything else in them as it is."""
    if type(value) is tuple:
        return tuple(_copied(each, known) for each in value)
    if type(value) not in (dict, list):
        return value
    copy = known.get(id(value))
    if copy is None and isinstance(value, dict):
        known[id(value)] = copy = {}
        copy.update({name: _copied(each, known) for name, each in value.items()})
    elif copy is None:
        known[id(value)] = copy = []
        copy.extend(_copied(each, known) for each in value)
    return copy
