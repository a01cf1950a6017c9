"""How a call ended, in the words that spans, logs, metrics, usage and alarms share."""

from __future__ import annotations

from apcore.errors import ErrorCodes, ModuleError


def error_code_of(error: BaseException | None) -> str | None:
    """The protocol's code of an error; anything unexpected is GENERAL_INTERNAL_ERROR."""
    if error is None:
        return None
    return error.code if isinstance(error, ModuleError) else ErrorCodes.GENERAL_INTERNAL_ERROR


def is_waiting(code: str | None) -> bool:
    """Whether a call with this code goes on later: a person has been asked, and nothing has failed."""
    return code == ErrorCodes.APPROVAL_PENDING
