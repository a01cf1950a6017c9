"""What travels between the approval gate and a handler (§7.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from apcore.context import Context
from apcore.effects import EffectRecord
from apcore.modules.annotations import ModuleAnnotations
from apcore.modules.definition import ModuleDefinition

ApprovalStatus = Literal["approved", "rejected", "timeout", "pending"]
_STATUSES = get_args(ApprovalStatus)
APPROVAL_TOKEN = "_approval_token"
"""The key in the inputs under which a caller hands in the approval ID of an earlier pending call (§7.4)."""


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One question to a human: may this call, with these inputs and this effect, run (§7.3.1)?

    ``annotations.requires_approval`` is always true, also where a rewriter and not the module wants the signature.

    ``arguments`` are the effective inputs, valid against the schema; ``original_arguments`` are what the caller sent
    when a rewriter changed them. ``effect`` is what the call would change, as far as that can be known.
    """

    module_id: str
    arguments: Mapping[str, Any] = field(repr=False)  # may hold secrets
    context: Context
    annotations: ModuleAnnotations
    description: str | None = None
    tags: list[str] = field(default_factory=list)
    effect: EffectRecord | None = None
    original_arguments: Mapping[str, Any] | None = field(default=None, repr=False)
    definition: ModuleDefinition | None = None


@dataclass(frozen=True, slots=True)
class ApprovalResult:
    """A handler's answer (§7.3.2). Raises ValueError for an unknown status and for a field of another type.

    A handler that binds approvals to an effect returns its digest as ``metadata["effect_digest"]``; the executor then
    refuses to commit anything else.
    """

    status: ApprovalStatus
    approved_by: str | None = None
    reason: str | None = None
    approval_id: str | None = None
    metadata: Mapping[str, Any] | None = field(default=None)

    def __post_init__(self) -> None:
        if self.status not in _STATUSES:
            raise ValueError(f"ApprovalResult.status must be one of {', '.join(_STATUSES)}, not {self.status!r}")
        for name in ("approved_by", "reason", "approval_id"):
            if not isinstance(getattr(self, name), str | None):
                raise ValueError(f"ApprovalResult.{name} must be a text or None, not {getattr(self, name)!r}")
        metadata: object = self.metadata
        if metadata is not None and not isinstance(metadata, Mapping):
            raise ValueError(f"ApprovalResult.metadata must be an object or None, not {type(metadata).__name__}")

    @property
    def effect_digest(self) -> str | None:
        """The digest of the approved effect, when the handler binds approvals to one."""
        return (self.metadata or {}).get("effect_digest")


class EffectDriftError(Exception):
    """The effect about to be committed is not the approved one: nothing may be committed.

    Raised inside the executing transaction so that it rolls back; it carries the effect as it is now, for the request
    that supersedes the approved one.
    """

    def __init__(self, effect: EffectRecord) -> None:
        super().__init__("The effect differs from the approved one")
        self.effect = effect
