"""Errors of the Django integration. All are module errors, with a code, an HTTP status and safe details (§8.1)."""

from typing import Literal

from apcore.errors import ErrorCodes, ModuleError

ConflictReason = Literal[
    "already_decided",
    "expired",
    "effect_changed",
    "consumed",
    "not_approved",
    "confirmation_required",
    "incomplete",
    "already_collected",
    "being_executed",
    "module_changed",
    "policy_changed",
]
ForbiddenReason = Literal[
    "own_request", "no_permission", "not_a_decider", "binding_mismatch", "not_the_requester", "human_required"
]


class ApprovalConflict(ModuleError):
    """The approval request is not, or no longer, in the state that this step needs (HTTP 409).

    `details["reason"]` is one of `ConflictReason`; `details["status"]` says where the request stands.
    """

    code = ErrorCodes.APPROVAL_CONFLICT
    http_status = 409

    def __init__(self, message: str, *, reason: ConflictReason, **details: object) -> None:
        super().__init__(message, details={"reason": reason, **details})


class ApprovalForbidden(ModuleError):
    """This person or service may not do this to this approval request (HTTP 403).

    `details["reason"]` is one of `ForbiddenReason`.
    """

    code = ErrorCodes.APPROVAL_FORBIDDEN
    http_status = 403

    def __init__(self, message: str, *, reason: ForbiddenReason, **details: object) -> None:
        super().__init__(message, details={"reason": reason, **details})


class ApprovalNotFound(ModuleError):
    """There is no approval request with this ID (HTTP 404)."""

    code = "APPROVAL_NOT_FOUND"
    http_status = 404


class TaskNotFound(ModuleError):
    """There is no asynchronous task with this ID (HTTP 404)."""

    code = "TASK_NOT_FOUND"
    http_status = 404


class TaskForbidden(ModuleError):
    """Only who submitted a task may cancel or read it (HTTP 403)."""

    code = "TASK_FORBIDDEN"
    http_status = 403


class InsideTransactionError(ModuleError):
    """An approval request has to survive its caller, so it cannot be opened inside the caller's transaction."""

    code = "APPROVAL_INSIDE_TRANSACTION"
    http_status = 500


class UndecryptableError(ModuleError):
    """Stored data was encrypted with a key that is no longer configured, or was changed."""

    code = "STORED_DATA_UNDECRYPTABLE"
    http_status = 500


class ArchiveError(ModuleError):
    """A segment of the audit trail cannot be archived, or its archive is not there or not the recorded one."""

    code = "AUDIT_ARCHIVE_ERROR"
    http_status = 409


class AuditHeadMissing(ModuleError):
    """A chain of the audit trail has entries and no head: somebody has touched it."""

    code = "AUDIT_HEAD_MISSING"
    http_status = 500
