"""Errors of the access control list (§8.2 ACL_*)."""

from __future__ import annotations

from apcore.errors.base import ModuleError
from apcore.errors.codes import ErrorCodes


class ACLDeniedError(ModuleError):
    """The caller may not call the module (§6.3)."""

    code = ErrorCodes.ACL_DENIED
    http_status = 403
    retryable = False
    default_message = "Access denied"


class ACLRuleError(ModuleError):
    """A rule of the access control list is malformed."""

    code = ErrorCodes.ACL_RULE_ERROR
    http_status = 500
    retryable = False
    default_message = "Malformed ACL rule"
