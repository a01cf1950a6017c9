"""How an exception becomes the error that the caller gets (§8.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from apcore.errors.base import ModuleError
from apcore.errors.modules import ModuleExecuteError, ModuleTimeoutError


class CallContext(Protocol):
    """What error handling reads from a ``Context``."""

    @property
    def trace_id(self) -> str: ...

    @property
    def call_chain(self) -> Sequence[str]: ...


def propagate_error(error: BaseException, module_id: str, context: CallContext) -> ModuleError:
    """The error to raise for ``error``, which came out of ``module_id`` (§8.3).

    A ``ModuleError`` stays itself, notes the module in its ``chain`` and learns trace ID and place if it has none.
    Anything else is wrapped: ``TimeoutError`` as MODULE_TIMEOUT, the rest as MODULE_EXECUTE_ERROR. The wrapper names
    the type of the original in message and details and never repeats its text, which may hold secrets; the original
    itself is the ``cause``.
    """
    if not isinstance(error, ModuleError):
        return _wrap(error, module_id, context)
    error.chain.append(module_id)
    if error.trace_id is None:
        error.trace_id = context.trace_id
    if error.module_id is None:
        error.module_id = module_id
    if not error.call_chain:
        error.call_chain = [*context.call_chain]
    return error


def _wrap(error: BaseException, module_id: str, context: CallContext) -> ModuleError:
    kind = type(error).__name__
    fields: dict[str, Any] = {
        "details": {"type": kind},
        "cause": error,
        "trace_id": context.trace_id,
        "module_id": module_id,
        "call_chain": context.call_chain,
    }
    wrapped: ModuleError
    if isinstance(error, TimeoutError):
        wrapped = ModuleTimeoutError(f"Module '{module_id}' timed out", **fields)
    else:
        wrapped = ModuleExecuteError(f"Module '{module_id}' failed: unexpected error ({kind})", **fields)
    wrapped.chain.append(module_id)
    return wrapped
