"""One rule of an access control list (§6.1)."""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from apcore.acl.patterns import EXTERNAL, SYSTEM
from apcore.errors import ACLRuleError

logger = logging.getLogger("apcore.acl")

Effect = Literal["allow", "deny"]
EFFECTS: Final = ("allow", "deny")
RESERVED_FIELDS: Final = frozenset({"id", "actions", "priority"})
_FIELDS: Final = frozenset({"callers", "targets", "effect", "description", "conditions"})


@dataclass(frozen=True, slots=True)
class ACLRule:
    """Allow or deny the calls from any of `callers` to any of `targets`, if all `conditions` hold (§6.1).

    Patterns are module IDs with `*` for any text; callers may also be `@external` (nobody called) and `@system`. An
    array may start with `$or` or `$not` (§6.2.1). An empty array never matches. Raises ACLRuleError naming the field.
    """

    callers: tuple[str, ...]
    targets: tuple[str, ...]
    effect: Effect
    description: str = ""
    conditions: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "callers", _patterns("callers", self.callers))
        object.__setattr__(self, "targets", _patterns("targets", self.targets))
        if self.effect not in EFFECTS:
            raise _fault("effect", f"must be 'allow' or 'deny', not {self.effect!r}")
        if not isinstance(self.description, str):
            raise _fault("description", "must be text")
        if self.conditions is not None and not isinstance(self.conditions, Mapping):
            raise _fault("conditions", "must be an object")
        _require_finite(self.conditions)
        object.__setattr__(self, "conditions", copy.deepcopy(self.conditions) or None)

    def to_dict(self) -> dict[str, Any]:
        """The form of ACL files."""
        data: dict[str, Any] = {"callers": list(self.callers), "targets": list(self.targets), "effect": self.effect}
        if self.description:
            data["description"] = self.description
        if self.conditions:
            data["conditions"] = copy.deepcopy(self.conditions)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], name: str = "ACL rule") -> ACLRule:
        """Read the form of ACL files; `name` says in errors which rule it is.

        Raises ACLRuleError for missing, wrong and unknown fields: a misspelt `conditions` must not open a door.
        """
        try:
            return cls(**_known_fields(data))
        except ACLRuleError as error:
            raise ACLRuleError(f"{name}: {error.message}", details={**error.details, "rule": name}) from error


def _known_fields(data: Any) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise _fault("rule", f"must be an object, not {type(data).__name__}")
    for field in ("callers", "targets", "effect"):
        if field not in data:
            raise _fault(field, "is missing")
    for field in data:
        if field in RESERVED_FIELDS:
            logger.warning("The ACL rule field '%s' is reserved and has no effect (§6.1)", field)
        elif field not in _FIELDS:
            raise _fault(str(field), "is not a field of a rule")
    given = {field: value for field, value in data.items() if field in _FIELDS}
    if given.get("description") is None:
        given["description"] = ""
    return given


def _patterns(field: str, patterns: Any) -> tuple[str, ...]:
    if not isinstance(patterns, (list, tuple)):
        raise _fault(field, f"must be a list of patterns, not {type(patterns).__name__}")
    for pattern in patterns:
        if not isinstance(pattern, str) or not pattern or any(character.isspace() for character in pattern):
            raise _fault(field, f"has the pattern {pattern!r}; a pattern is text without spaces")
        if pattern.startswith("@") and not (field == "callers" and pattern in {EXTERNAL, SYSTEM}):
            raise _fault(field, f"has the unknown special pattern '{pattern}'")
    if len(patterns) > 2 and patterns[0] == "$not":
        logger.warning("An ACL rule's %s start with '$not' and hold several patterns: only the first counts", field)
    return tuple(patterns)


_MOST_CONTAINERS: Final = 10_000
_DEEPEST: Final = 50


def _require_finite(conditions: Any) -> None:
    """Refuse conditions that contain themselves, and those whose few lines stand for billions (YAML aliases)."""
    waiting, count = [(conditions, 1)], 0
    while waiting:
        value, depth = waiting.pop()
        if not isinstance(value, (Mapping, list, tuple)):
            continue
        count += 1
        if depth > _DEEPEST or count > _MOST_CONTAINERS:
            limits = f"{_DEEPEST} levels deep and {_MOST_CONTAINERS:,} objects and lists"
            raise _fault("conditions", f"may be {limits} at most; these are more, or contain themselves")
        waiting += [(each, depth + 1) for each in (value.values() if isinstance(value, Mapping) else value)]


def _fault(field: str, problem: str) -> ACLRuleError:
    return ACLRuleError(f"'{field}' {problem}", details={"field": field}, user_fixable=True)
