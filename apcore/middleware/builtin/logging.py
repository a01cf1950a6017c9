"""One line per call (§10.2, §11.4)."""

from __future__ import annotations

import logging
from collections.abc import Collection
from functools import partial
from time import perf_counter
from typing import Any, ClassVar

from apcore.errors import ModuleError
from apcore.redaction import DEFAULT_SENSITIVE_KEYS
from apcore.telemetry.accompanying import AccompaniedRunner
from apcore.telemetry.outcomes import error_code_of, is_waiting
from apcore.telemetry.running import RunningCall, entered, running, running_call

logger = logging.getLogger("apcore.calls")


class LoggingMiddleware:
    """Says how each call ended and how long it took; at level debug also with which inputs and output.

    What went wrong on the caller's side (HTTP status below 500) is a warning, everything else an error. Inputs and
    output are shown without what schemas mark, what sensitive keys hold, and what the call passes on of its inputs. The
    same is hidden in every line that the module writes meanwhile, if its handler has a `RedactingFilter`.
    """

    id: ClassVar[str] = "logging"
    priority: int = 900

    def __init__(self, sensitive_keys: Collection[str] = ()) -> None:
        self._keys = DEFAULT_SENSITIVE_KEYS.union(sensitive_keys)

    async def around_call(self, strategy: Any, state: Any, proceed: Any) -> Any:
        """The call, and then its line."""
        if not isinstance(state.module_id, str):
            return await proceed(strategy, state)
        call = RunningCall(state, entered(state), self._keys, running_call())
        if state.is_streaming:
            state.runner = AccompaniedRunner(state.runner, partial(running, call))
            return await self._logged(call, strategy, state, proceed)
        with running(call):
            return await self._logged(call, strategy, state, proceed)

    async def _logged(self, call: RunningCall, strategy: Any, state: Any, proceed: Any) -> Any:
        start = perf_counter()
        try:
            outcome = await proceed(strategy, state)
        except Exception as error:
            self._say_failed(call, state, error, perf_counter() - start)
            raise
        if not state.dry_run and not (state.stopped and state.result is None) and logger.isEnabledFor(logging.INFO):
            spent = perf_counter() - start
            _say(logging.INFO, call, f"succeeded in {spent * 1000:.1f} ms", {"duration_ms": round(spent * 1000, 3)})
        return outcome

    def _say_failed(self, call: RunningCall, state: Any, error: Exception, spent: float) -> None:
        code = error_code_of(error)
        is_theirs = isinstance(error, ModuleError) and error.http_status < 500
        level = logging.INFO if is_waiting(code) else logging.WARNING if is_theirs else logging.ERROR
        word = "waits for an approval" if is_waiting(code) else f"failed with {code}"
        if logger.isEnabledFor(level):
            _say(level, call, word, {"duration_ms": round(spent * 1000, 3), "error_code": code}, failed=True)


def _say(level: int, call: RunningCall, what: str, extra: dict[str, Any], *, failed: bool = False) -> None:
    caller = call.context.caller_id or "@external"
    extra |= {"trace_id": call.trace_id, "module_id": call.module_id, "caller_id": caller}
    if logger.isEnabledFor(logging.DEBUG):
        extra |= {"inputs": call.inputs(), "output": None if failed else call.output()}
    logger.log(level, "%s %s", call.module_id or "A call of no known module", what, extra=extra)
