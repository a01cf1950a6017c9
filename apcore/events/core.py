"""The events of the framework: their names, severities and payload keys, each in this one place (§9.16.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from apcore.errors import InvalidInputError
from apcore.events.event import Event, Severity

RESERVED_PREFIX: Final = "apcore."
"""Types that only the framework emits (§9.16.1)."""

MODULE_REGISTERED: Final = "apcore.registry.module_registered"
MODULE_UNREGISTERED: Final = "apcore.registry.module_unregistered"
MODULE_TOGGLED: Final = "apcore.module.toggled"
MODULE_RELOADED: Final = "apcore.module.reloaded"
CONFIG_UPDATED: Final = "apcore.config.updated"
HEALTH_ERROR_THRESHOLD_EXCEEDED: Final = "apcore.health.error_threshold_exceeded"
HEALTH_LATENCY_THRESHOLD_EXCEEDED: Final = "apcore.health.latency_threshold_exceeded"
HEALTH_RECOVERED: Final = "apcore.health.recovered"

APPROVAL_REQUESTED: Final = "apcore.approval.requested"
APPROVAL_PENDING: Final = "apcore.approval.pending"
APPROVAL_GRANTED: Final = "apcore.approval.granted"
APPROVAL_DENIED: Final = "apcore.approval.denied"
APPROVAL_TIMEOUT: Final = "apcore.approval.timeout"
APPROVAL_CANCELLED: Final = "apcore.approval.cancelled"
APPROVAL_SUPERSEDED: Final = "apcore.approval.superseded"
APPROVAL_CONSUMED: Final = "apcore.approval.consumed"
APPROVAL_FAILED: Final = "apcore.approval.failed"

TASK_SUBMITTED: Final = "apcore.task.submitted"
TASK_STARTED: Final = "apcore.task.started"
TASK_RETRIED: Final = "apcore.task.retried"
TASK_COMPLETED: Final = "apcore.task.completed"
TASK_FAILED: Final = "apcore.task.failed"
TASK_CANCELLED: Final = "apcore.task.cancelled"

EVENTS_DEAD_LETTER: Final = "apcore.events.dead_letter"


@dataclass(frozen=True, slots=True)
class CoreEvent:
    """What an event of the framework must look like. Of several severities the first is the usual one."""

    type: str
    severities: tuple[Severity, ...]
    emitted_by: str
    keys: tuple[str, ...]
    description: str


def _table(*rows: CoreEvent) -> Mapping[str, CoreEvent]:
    return MappingProxyType({row.type: row for row in rows})


_APPROVAL = ("module_id", "approval_id")
_TASK = ("module_id", "task_id")

CORE_EVENTS: Final[Mapping[str, CoreEvent]] = _table(
    CoreEvent(MODULE_REGISTERED, ("info",), "registry bridge", ("module_id",), "A module was registered."),
    CoreEvent(MODULE_UNREGISTERED, ("info",), "registry bridge", ("module_id",), "A module was removed."),
    CoreEvent(
        MODULE_TOGGLED,
        ("info", "warn"),
        "system.control.toggle_feature",
        ("module_id", "enabled"),
        "A module was switched on (info) or off (warn).",
    ),
    CoreEvent(
        MODULE_RELOADED,
        ("info",),
        "system.control.reload_module",
        ("module_id", "previous_version", "new_version"),
        "A module was replaced by what its file holds now.",
    ),
    CoreEvent(
        CONFIG_UPDATED,
        ("info",),
        "system.control.update_config",
        ("key", "old_value", "new_value"),
        "A configuration value was changed; values of sensitive keys are redacted.",
    ),
    CoreEvent(
        HEALTH_ERROR_THRESHOLD_EXCEEDED,
        ("error",),
        "PlatformNotifyMiddleware",
        ("module_id", "error_rate", "threshold"),
        "Too many calls of a module fail.",
    ),
    CoreEvent(
        HEALTH_LATENCY_THRESHOLD_EXCEEDED,
        ("warn",),
        "PlatformNotifyMiddleware",
        ("module_id", "p99_latency_ms", "threshold"),
        "Calls of a module take too long.",
    ),
    CoreEvent(
        HEALTH_RECOVERED,
        ("info",),
        "PlatformNotifyMiddleware",
        ("module_id", "error_rate"),
        "A module that failed too often does so no more.",
    ),
    CoreEvent(
        APPROVAL_REQUESTED,
        ("info",),
        "approval gate",
        (*_APPROVAL, "caller_id", "requested_by"),
        "Somebody was asked to sign a call.",
    ),
    CoreEvent(APPROVAL_PENDING, ("info",), "approval gate", _APPROVAL, "The call has to wait for a decision."),
    CoreEvent(APPROVAL_GRANTED, ("info",), "approval gate", (*_APPROVAL, "decided_by"), "The call may run."),
    CoreEvent(
        APPROVAL_DENIED,
        ("warn",),
        "approval gate",
        (*_APPROVAL, "decided_by"),
        "The call may not run: somebody or something said no.",
    ),
    CoreEvent(APPROVAL_TIMEOUT, ("warn",), "approval gate", _APPROVAL, "Nobody decided, or nobody executed, in time."),
    CoreEvent(APPROVAL_CANCELLED, ("info",), "approval services", _APPROVAL, "The request was withdrawn."),
    CoreEvent(
        APPROVAL_SUPERSEDED,
        ("warn",),
        "approval services",
        (*_APPROVAL, "successor_id"),
        "The effect was no longer the approved one; another request took the place of this one.",
    ),
    CoreEvent(APPROVAL_CONSUMED, ("info",), "approval services", _APPROVAL, "The approved call was committed."),
    CoreEvent(
        APPROVAL_FAILED,
        ("error",),
        "approval services",
        (*_APPROVAL, "error_code"),
        "The approved call failed; nothing was committed.",
    ),
    CoreEvent(TASK_SUBMITTED, ("info",), "task manager", _TASK, "A call waits to run in the background."),
    CoreEvent(TASK_STARTED, ("info",), "task manager", _TASK, "An attempt began."),
    CoreEvent(TASK_RETRIED, ("warn",), "task manager", (*_TASK, "attempts"), "An attempt failed; another follows."),
    CoreEvent(TASK_COMPLETED, ("info",), "task manager", _TASK, "The call returned its output."),
    CoreEvent(TASK_FAILED, ("error",), "task manager", (*_TASK, "error_code"), "The call failed."),
    CoreEvent(TASK_CANCELLED, ("warn",), "task manager", _TASK, "The call was cancelled."),
    CoreEvent(
        EVENTS_DEAD_LETTER,
        ("error",),
        "subscribers that deliver elsewhere",
        ("event_id", "event_type", "subscriber", "attempts", "error"),
        "An event could not be delivered and is not tried again.",
    ),
)
"""Every event that the framework emits, by its type. There are no aliases (§9.16.2)."""


class _FrameworkEvent(Event):
    """Made by `core_event()` only, which is how the emitter knows the framework's own from a forged one."""

    __slots__ = ()


def core_event(
    type: str,  # noqa: A002 - the name of the field
    data: Mapping[str, Any],
    *,
    severity: Severity | None = None,
    module_id: str | None = None,
    trace_id: str | None = None,
) -> Event:
    """An event of the framework: the only way to make one whose type begins with ``apcore.``.

    ``module_id`` is that of the data unless given. Raises InvalidInputError for a type that the table does not hold,
    for missing or additional payload keys, and for a severity that the event does not have.
    """
    known = CORE_EVENTS.get(type)
    if known is None:
        raise InvalidInputError(f"The framework has no event {type!r}", details={"type": type})
    if set(data) != set(known.keys):
        raise InvalidInputError(
            f"The payload of '{type}' has the keys {', '.join(known.keys)}, not {', '.join(sorted(data)) or 'none'}",
            details={"type": type, "keys": list(known.keys)},
        )
    severity = known.severities[0] if severity is None else severity
    if severity not in known.severities:
        raise InvalidInputError(f"'{type}' is {' or '.join(known.severities)}, not {severity!r}")
    return _FrameworkEvent(type, data, data.get("module_id", module_id), severity, trace_id=trace_id)


def is_forged(event: Event) -> bool:
    """Whether an event has a reserved type without being one of the framework's."""
    return event.type.startswith(RESERVED_PREFIX) and not isinstance(event, _FrameworkEvent)


_UNDONE_WITH_THE_WORK: Final = frozenset(
    {MODULE_REGISTERED, MODULE_UNREGISTERED, MODULE_TOGGLED, MODULE_RELOADED, CONFIG_UPDATED}
)


def outlives_undoing(event: Event) -> bool:
    """Whether an event is true even if the work during which it was emitted was rolled back.

    That a call was denied or failed, or a module is ill, happened all the same; a changed setting was undone too, and
    of other people's events nobody knows.
    """
    return isinstance(event, _FrameworkEvent) and event.type not in _UNDONE_WITH_THE_WORK
