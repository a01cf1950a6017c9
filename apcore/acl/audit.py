"""The log of access decisions (§6.1 `audit`)."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from apcore.acl.patterns import EXTERNAL
from apcore.acl.policy import ACLDecision
from apcore.context import Context
from apcore.errors import ACLRuleError

logger = logging.getLogger("apcore.acl.audit")

_LEVELS: Final[Mapping[str, int]] = {
    "trace": logging.DEBUG,
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
    "fatal": logging.CRITICAL,
}


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """Whether and how decisions are logged, to the logger `apcore.acl.audit`. Raises ACLRuleError for a wrong value."""

    enabled: bool = True
    log_level: str = "info"
    include_denied: bool = True

    def __post_init__(self) -> None:
        switches: dict[str, object] = {"enabled": self.enabled, "include_denied": self.include_denied}
        for name, value in switches.items():
            if not isinstance(value, bool):
                raise ACLRuleError(f"audit.{name} must be true or false", details={"field": f"audit.{name}"})
        level: object = self.log_level
        if not isinstance(level, str) or level not in _LEVELS:
            raise ACLRuleError(
                f"audit.log_level must be one of {', '.join(_LEVELS)}", details={"field": "audit.log_level"}
            )

    @classmethod
    def from_dict(cls, data: Any) -> AuditSettings:
        """Read the `audit` part of an ACL file. Raises ACLRuleError."""
        names = {field.name for field in fields(cls)}
        if not isinstance(data, Mapping) or not names.issuperset(data):
            raise ACLRuleError(f"audit must be an object of {', '.join(sorted(names))}", details={"field": "audit"})
        return cls(**data)


class AuditLog:
    """Writes one entry for each decision, as JSON in the message and as `record.acl_audit`."""

    __slots__ = ("_enabled", "_include_denied", "_level")

    def __init__(self, settings: AuditSettings) -> None:
        self._enabled = settings.enabled
        self._include_denied = settings.include_denied
        self._level = _LEVELS[settings.log_level]

    def record(self, decision: ACLDecision, caller_id: str | None, target_id: str, context: Context | None) -> None:
        """Log the decision, unless the settings or the logger's level say otherwise."""
        if not self._enabled or not logger.isEnabledFor(self._level):
            return
        if decision.allowed or self._include_denied:
            entry = _entry(decision, caller_id, target_id, context)
            logger.log(self._level, "ACL decision %s", json.dumps(entry), extra={"acl_audit": entry})


def _entry(
    decision: ACLDecision, caller_id: str | None, target_id: str, context: Context | None
) -> Mapping[str, str | int | None]:
    identity = None if context is None else context.identity
    return {
        "caller_id": EXTERNAL if caller_id is None else caller_id,
        "target_id": target_id,
        "effect": decision.effect,
        "rule_index": decision.rule_index,
        "reason": decision.reason,
        "identity_id": None if identity is None else identity.id,
        "identity_type": None if identity is None else identity.type,
        "trace_id": None if context is None else context.trace_id,
    }
