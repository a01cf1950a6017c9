"""Spans around calls, checks and the steps that matter (§10.8, §11.4)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import CoroutineType
from typing import Any, ClassVar, Final

from apcore.context import Context
from apcore.ids import is_canonical_id
from apcore.telemetry.accompanying import AccompaniedRunner
from apcore.telemetry.running import entered
from apcore.telemetry.trace import Span
from apcore.telemetry.tracing import EXTERNAL, TracingProvider, active

SPAN_OF_STEP: Final = {
    "acl_check": "apcore.acl.check",
    "middleware_before": "apcore.middleware.before",
    "input_validation": "apcore.schema.validate",
    "output_validation": "apcore.schema.validate",
    "middleware_after": "apcore.middleware.after",
}


class TracingMiddleware:
    """Traces every call through a `TracingProvider`; a call that is not recorded costs a look at its parent.

    It surrounds the whole call, so that what the access list refuses has its span as well.
    """

    id: ClassVar[str] = "tracing"
    priority: int = 950

    def __init__(self, provider: TracingProvider) -> None:
        self._provider = provider
        self._rewritten: tuple[Any, Any] | None = None

    async def around_call(self, strategy: Any, state: Any, proceed: Any) -> Any:
        """The call inside of ``apcore.module.execute``, or the check inside of ``apcore.module.validate``."""
        if not isinstance(state.module_id, str):
            return await proceed(strategy, state)
        state.parent = parent = state.parent if state.parent is not None else Context.create()
        span = self._provider.start_span("apcore.module.validate" if state.dry_run else "apcore.module.execute", parent)
        context = entered(state)
        context.span = span if span is not None else parent.span
        if span is None:
            return await proceed(strategy, state)
        shown = _shown(state, span)
        if span.is_dropped:
            with shown:  # so that those who are called from here drop it, too
                return await proceed(strategy, state)
        span.method = "validate" if state.dry_run else "execute"
        with shown:
            try:
                outcome = await proceed(self._traced(strategy), state)
            except BaseException as error:
                self._provider.end_span(span, _attributes(state, context), error)
                raise
        self._provider.end_span(span, {**_attributes(state, context), **_findings(state, outcome)})
        return outcome

    def _traced(self, strategy: Any) -> Any:
        """The strategy with spans around its steps, made once for each strategy that the executor has."""
        known = self._rewritten
        if known is None or known[0] is not strategy:
            self._rewritten = known = (strategy, strategy.rewritten(self._rewrite))
        return known[1]

    def _rewrite(self, step: Any) -> Callable[[Any], Any] | None:
        name = SPAN_OF_STEP.get(step.name)
        if name is None:
            return None
        run, provider = step.run, self._provider

        async def run_in_span(state: Any) -> Any:
            with provider.span(name, state.context, _attributes(state, state.context)):
                output = run(state)
                return await output if type(output) is CoroutineType else output

        return run_in_span


def _shown(state: Any, span: Span) -> AbstractContextManager[Any]:
    """The span as OpenTelemetry's active one: for the whole call, or in a stream while its own code runs."""
    if not state.is_streaming:
        return active(span)
    state.runner = AccompaniedRunner(state.runner, partial(active, span))
    return nullcontext()


def _attributes(state: Any, context: Context) -> dict[str, Any]:
    is_known = getattr(state, "definition", None) is not None or is_canonical_id(state.module_id)
    return {
        "module_id": state.module_id if is_known else "(invalid)",  # whatever somebody wrote there
        "caller_id": context.caller_id or EXTERNAL,
    }


def _findings(state: Any, outcome: Any) -> dict[str, Any]:
    """What a check found; an invalid call is a result, not a failure of the check."""
    if not state.dry_run:
        return {}
    return {"valid": outcome.valid, "error_count": len(outcome.errors), "success": outcome.valid}
