"""Resume: the caller comes back with the token."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from apcore.context import Context


def resume(
    request_id: UUID | str,
    *,
    module_id: str,
    inputs: Mapping[str, Any],
    context: Context,
    idempotency_key: str | None = None,
) -> dict[str, Any]:
    """Execute an approved request, or hand out the result that a worker recorded (§7.4, resume semantics).

    The result is handed out once; the same caller with the same `idempotency_key` gets it again. Raises
    ApprovalForbidden (binding_mismatch, audited) for another module, other inputs or another identity;
    ApprovalPendingError, ApprovalDeniedError, ApprovalTimeoutError by status; ApprovalConflict (already_collected);
    and the recorded error of an execution that failed.
    """
    raise NotImplementedError
