"""Who must sign, and what exactly they sign (§7)."""

from apcore.approval.handlers import (
    AlwaysDenyHandler,
    ApprovalHandler,
    AutoApproveHandler,
    BoundApprovalHandler,
    CallbackApprovalHandler,
)
from apcore.approval.types import APPROVAL_TOKEN, ApprovalRequest, ApprovalResult, ApprovalStatus, EffectDriftError

__all__ = [
    "APPROVAL_TOKEN",
    "AlwaysDenyHandler",
    "ApprovalHandler",
    "ApprovalRequest",
    "ApprovalResult",
    "ApprovalStatus",
    "AutoApproveHandler",
    "BoundApprovalHandler",
    "CallbackApprovalHandler",
    "EffectDriftError",
]
