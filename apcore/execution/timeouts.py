"""A time limit for one call (§12.7.5)."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from time import monotonic
from typing import Any

from apcore.context import Context
from apcore.errors import InvalidInputError, require, require_number


def enforce_timeout(
    module_id: str, inputs: Mapping[str, Any] | None, context: Context, timeout_ms: float
) -> dict[str, Any]:
    """Call a module by the executor of ``context``, for at most ``timeout_ms`` milliseconds; its output (§12.7.5).

    At the deadline the module is told to stop, and is interrupted when the executor's period of grace is over too. The
    executor's own limits hold besides, and a limit of 0 is none. A signature that is waited for counts.

    Raises ModuleTimeoutError, what the call raises, and InvalidInputError for a limit that is no number from 0 on and
    for a context without an executor.
    """
    require("context", context, Context, "a Context")
    require_number("timeout_ms", timeout_ms, 0)
    if context.executor is None:
        raise InvalidInputError("The context has no executor: make it with Context.create(executor=…)")
    own = context if context.prepared_for == module_id else context.child(module_id)
    before, limits = own.deadline, [limit for limit in (timeout_ms, context.executor.settings.global_timeout) if limit]
    if limits:
        deadline = monotonic() + min(limits) / 1000
        own.deadline = min(deadline, inf if before is None else before)
    try:
        output: dict[str, Any] = context.executor.call(module_id, inputs, own)
    finally:
        own.deadline = before  # the context may be the caller's, and its next call has a limit of its own
    return output
