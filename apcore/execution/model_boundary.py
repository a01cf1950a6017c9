"""Calls by language models: whatever happens, the answer is something that a model can read (RFC 005)."""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from apcore.approval import APPROVAL_TOKEN
from apcore.context import Context
from apcore.errors import (
    ApprovalPendingError,
    ErrorCodes,
    InvalidInputError,
    ModuleError,
    SchemaValidationError,
    require,
)
from apcore.execution.executor import Executor
from apcore.plain import plain
from apcore.schema import REDACTED_VALUE
from apcore.schema.kinds import kind_of

_LISTED: Final = 20
_LONGEST: Final = 4_000
"""Characters of a message that a model is told of: it has to read all of it."""

_NUMBER_OF: Final[Mapping[type[OSError], int]] = {
    BlockingIOError: errno.EAGAIN,
    BrokenPipeError: errno.EPIPE,
    ChildProcessError: errno.ECHILD,
    ConnectionAbortedError: errno.ECONNABORTED,
    ConnectionRefusedError: errno.ECONNREFUSED,
    ConnectionResetError: errno.ECONNRESET,
    FileExistsError: errno.EEXIST,
    FileNotFoundError: errno.ENOENT,
    InterruptedError: errno.EINTR,
    IsADirectoryError: errno.EISDIR,
    NotADirectoryError: errno.ENOTDIR,
    PermissionError: errno.EACCES,
    ProcessLookupError: errno.ESRCH,
}
"""The classes that Python makes of numbers, for those that are raised without one."""

Arguments = Mapping[str, Any] | str | None
"""What a model wants to call a module with: an object, or the JSON text of one."""


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """What went wrong, for programs: ``name`` is the class of the original error, ``code`` tells kinds apart.

    The code is the protocol's, except for a failure of the operating system, which keeps its own: ``ENOENT`` is not
    ``EACCES``.
    """

    name: str
    code: str

    def to_dict(self) -> dict[str, str]:
        """As JSON."""
        return {"name": self.name, "code": self.code}


@dataclass(frozen=True, slots=True)
class ExecutionResult:
    """The answer to a model's call.

    ``text`` is for the model: the output as JSON, or what is wrong and what to do about it. ``output`` is there when
    the module ran, ``error`` when it did not or failed, ``approval_id`` when the call waits for a human. ``cause`` is
    the complete error, for the program around the model.
    """

    module_id: str
    is_error: bool
    text: str
    output: Mapping[str, Any] | None = None
    error: ErrorKind | None = None
    approval_id: str | None = None
    cause: ModuleError | None = field(default=None, repr=False, compare=False)

    @property
    def is_pending(self) -> bool:
        """Whether the call waits for a decision and can be made again."""
        return self.approval_id is not None

    def to_dict(self) -> dict[str, Any]:
        """As JSON, without what is not there."""
        data: dict[str, Any] = {"is_error": self.is_error, "text": self.text}
        if self.output is not None:
            data["output"] = plain(self.output)
        if self.error is not None:
            data["error"] = self.error.to_dict()
        if self.approval_id is not None:
            data["approval_id"] = self.approval_id
        return data


def call_for_model(
    executor: Executor, module_id: str, arguments: Arguments = None, context: Context | None = None
) -> ExecutionResult:
    """Call a module for a model. Refusals and failures are results too: it raises InvalidInputError for what is no
    Executor, and nothing else.

    The arguments are checked against the module's schema before it runs, as in every call; a violation is described
    field by field, without any of the values.
    """
    require("executor", executor, Executor, "an Executor")
    try:
        return _succeeded(module_id, executor.call(module_id, _inputs(arguments), context))
    except ModuleError as error:
        return _failed(executor, module_id, arguments, error)


async def call_for_model_async(
    executor: Executor, module_id: str, arguments: Arguments = None, context: Context | None = None
) -> ExecutionResult:
    """Like ``call_for_model``, from a coroutine."""
    require("executor", executor, Executor, "an Executor")
    try:
        return _succeeded(module_id, await executor.call_async(module_id, _inputs(arguments), context))
    except ModuleError as error:
        return _failed(executor, module_id, arguments, error)


def _inputs(arguments: Arguments) -> Any:
    """The arguments as an object. Raises InvalidInputError for a text that is no JSON."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError) as error:
        where = f" at line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InvalidInputError(f"The arguments are no valid JSON{where}", user_fixable=True) from None


def _succeeded(module_id: str, output: Any) -> ExecutionResult:
    return ExecutionResult(module_id, False, json.dumps(plain(output), ensure_ascii=False), output=output)


def _failed(executor: Executor, module_id: str, arguments: Arguments, error: ModuleError) -> ExecutionResult:
    approval_id = _approval_id(error)
    if isinstance(error, SchemaValidationError) and _can_be_corrected(executor, module_id, arguments):
        text = _violations(module_id, error.errors)
    elif approval_id is not None:
        text = _waiting(module_id, approval_id)
    else:
        text = _explained(module_id, error)
    return ExecutionResult(
        module_id,
        is_error=True,
        text=text,
        error=ErrorKind(type(_original(error)).__name__, _code(error)),
        approval_id=approval_id,
        cause=error,
    )


def _approval_id(error: ModuleError) -> str | None:
    if not isinstance(error, ApprovalPendingError):
        return None
    told = getattr(error.result, "approval_id", None) or error.details.get("approval_id")
    return None if told is None else str(told)


def _original(error: ModuleError) -> BaseException:
    """What a module raised, where the error only wraps it."""
    is_wrapper = error.code in (ErrorCodes.MODULE_EXECUTE_ERROR, ErrorCodes.MODULE_TIMEOUT)
    return error.cause if is_wrapper and error.cause is not None else error


def _code(error: ModuleError) -> str:
    original = _original(error)
    number = _number(original) if isinstance(original, OSError) else None
    return error.code if number is None else errno.errorcode.get(number, error.code)


def _number(original: OSError) -> int | None:
    if original.errno is not None:
        return original.errno
    return next((number for kind, number in _NUMBER_OF.items() if isinstance(original, kind)), None)


def _can_be_corrected(executor: Executor, module_id: str, arguments: Arguments) -> bool:
    """Whether it is the arguments that do not fit, and not an output, or a call that the module itself made."""
    inputs = _inputs(arguments) or {}
    given = {name: value for name, value in inputs.items() if name != APPROVAL_TOKEN}
    try:
        executor.registry.get_definition(module_id).input_validator.validate(given)
    except SchemaValidationError:
        return True
    return False


def _waiting(module_id: str, approval_id: str) -> str:
    return (
        f"The call of {module_id} was not made yet: it waits for the approval {approval_id}.\n"
        f'Once it is given, call again with the same arguments and "{APPROVAL_TOKEN}": "{approval_id}".'
    )


def _explained(module_id: str, error: ModuleError) -> str:
    message = error.message.rstrip(".")
    if len(message) > _LONGEST:
        message = f"{message[:_LONGEST]}…"
    said = f"The call of {module_id} failed: {message} ({_code(error)})."
    return "\n".join([said, *(each for each in (error.suggestion, error.ai_guidance) if each)])


def _violations(module_id: str, errors: Sequence[Mapping[str, Any]]) -> str:
    lines = [f"The arguments do not fit {module_id}. Correct them and call again:"]
    lines += [f"- {each['path'] or 'the arguments'}: {each['message']}{_received(each)}" for each in errors[:_LISTED]]
    if len(errors) > _LISTED:
        lines.append(f"- and {len(errors) - _LISTED} more")
    return "\n".join(lines)


def _received(violation: Mapping[str, Any]) -> str:
    """The kind of what came, where the message does not name it yet. Never the value: it may be a secret."""
    actual = violation.get("actual", REDACTED_VALUE)
    if violation.get("constraint") == "type" or actual == REDACTED_VALUE:
        return ""
    return f" (received: {kind_of(actual)})"
