"""Consume: spend an approval, in the very transaction that executes the call."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from apcore import approval
from apcore.effects import EffectRecord
from apcore.errors import ModuleError
from django_apcore.models import ApprovalRequest


def consume(request_id: UUID | str) -> ApprovalRequest:
    """Lock an approved request and mark it consumed. Must run inside the executing transaction, before the module.

    Raises ApprovalNotFound; ApprovalConflict (consumed, not_approved, expired).
    """
    raise NotImplementedError


def record_outcome(request_id: UUID | str, record: EffectRecord | None, result: Mapping[str, Any]) -> None:
    """Store result and committed digest of a consumed request. Must run inside the executing transaction, at its end.

    Writes the audit entry of the consumption here and not in `consume`, so that the audit chain is locked only for
    the moment before the commit.
    """
    raise NotImplementedError


def fail(request_id: UUID | str, error: ModuleError) -> ApprovalRequest:
    """Mark an approved request as failed after its execution was rolled back; leave a decided one as it is."""
    raise NotImplementedError


def supersede(
    request_id: UUID | str, *, request: approval.ApprovalRequest, effect: EffectRecord, reason: str
) -> ApprovalRequest:
    """Replace a request, whose effect is not the approved one any more, by a pending one for `effect`. Returns the new one.

    Two processes that find the same drift get the same successor. Raises ApprovalNotFound; ApprovalConflict (consumed).
    """
    raise NotImplementedError
