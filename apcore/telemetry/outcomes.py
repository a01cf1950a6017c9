"""How a call ended, in the words that spans, logs, metrics, usage and alarms share."""

from __future__ import annotations

from typing import Final

from apcore.errors import ErrorCodes, ModuleError

_OWN_FROM: Final = 500


def error_code_of(error: BaseException | None) -> str | None:
    """The protocol's code of an error; anything unexpected is GENERAL_INTERNAL_ERROR."""
    if error is None:
        return None
    return error.code if isinstance(error, ModuleError) else ErrorCodes.GENERAL_INTERNAL_ERROR


def is_fault(error: ModuleError, module_id: str) -> bool:
    """Whether an error of a call is the module's own: its health goes by these, and callers alone cannot make any.

    Own are errors with an HTTP status from 500 on (execution, time-out), an output that does not fit, and inputs that
    do not fit another module that it calls. Inputs that do not fit it, refusals (a status below 500, its own or passed
    on), a caller that left, and a call that waits for a person are not.
    """
    match error.details.get("step"):
        case "input_validation":
            return error.module_id not in (None, module_id)
        case "output_validation":
            return True
    return error.http_status >= _OWN_FROM


def is_waiting(code: str | None) -> bool:
    """Whether a call with this code goes on later: a person has been asked, and nothing has failed."""
    return code == ErrorCodes.APPROVAL_PENDING
