"""Leaves a module alone that keeps failing, and finds out from time to time whether it works again."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from time import monotonic
from typing import Any, ClassVar, Final

from apcore.context import Context
from apcore.errors import (
    CircuitBreakerOpenError,
    ExecutionCancelledError,
    InvalidInputError,
    ModuleError,
    require_number,
)
from apcore.middleware.base import Middleware
from apcore.middleware.circuits import Circuit, CircuitLimits, Outcome, State
from apcore.telemetry.outcomes import is_fault

logger = logging.getLogger("apcore.middleware")

_DAY_MS: Final = 86_400_000


class CircuitBreakerMiddleware(Middleware):
    """One circuit for each module. While it is open, calls fail at once with CIRCUIT_BREAKER_OPEN.

    A failure is an error of the module's own, as its health counts them; errors of the caller count as success, a
    cancelled call and an open circuit further in as neither. Calls that an ``on_error()`` further in recovers are not
    seen. The circuit opens when of the last ``calls`` within ``window_ms`` (at least ``min_calls``) the share
    ``failure_rate`` failed; after ``open_ms`` it admits ``probes`` calls at a time, and closes when as many succeed.

    It stands inside of ``retry``, so that every attempt counts. ``clock`` gives seconds. Raises InvalidInputError for
    values out of range.
    """

    id: ClassVar[str] = "circuit_breaker"
    priority: int = 650

    def __init__(
        self,
        *,
        failure_rate: float = 0.5,
        min_calls: int = 10,
        calls: int = 100,
        window_ms: float = 60_000,
        open_ms: float = 30_000,
        probes: int = 1,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        require_number("circuit_breaker: failure_rate", failure_rate, 0.01, 1)
        require_number("circuit_breaker: min_calls", min_calls, 1, 10_000, whole=True)
        require_number("circuit_breaker: calls", calls, 1, 10_000, whole=True)
        require_number("circuit_breaker: window_ms", window_ms, 1, _DAY_MS)
        require_number("circuit_breaker: open_ms", open_ms, 1, _DAY_MS)
        require_number("circuit_breaker: probes", probes, 1, 100, whole=True)
        if min_calls > calls:
            raise InvalidInputError("circuit_breaker: min_calls must not be more than calls, or it never opens")
        self._limits = CircuitLimits(failure_rate, min_calls, calls, window_ms / 1000, open_ms / 1000, probes)
        self._clock = clock
        self._circuits: dict[str, Circuit] = {}

    def state(self, module_id: str) -> State:
        """How the circuit of a module stands; ``closed`` for one that was never called."""
        circuit = self._circuits.get(module_id)
        return "closed" if circuit is None else circuit.state

    def before(self, module_id: str, inputs: dict[str, Any], context: Context) -> None:
        """Raises CircuitBreakerOpenError with ``details.retry_after_ms`` while the circuit is open."""
        circuit = self._circuits.get(module_id)
        if circuit is None:
            circuit = self._circuits.setdefault(module_id, Circuit(self._limits, self._clock))
        admission = circuit.admit()
        if admission.ticket is not None:
            context.data[_key(context)] = admission.ticket
            return
        milliseconds = math.ceil(admission.retry_after * 1000)
        raise CircuitBreakerOpenError(
            f"{module_id} failed too often and is left alone; try again in {milliseconds} ms",
            module_id=module_id,
            details={"retry_after_ms": milliseconds},
            suggestion=f"Call it again after {milliseconds} ms, not earlier; other modules are not concerned.",
            ai_guidance="Do not repeat this call now. Wait for details.retry_after_ms, or go on without its result.",
        )

    def after(self, module_id: str, inputs: dict[str, Any], output: dict[str, Any], context: Context) -> None:
        """Counts a success."""
        self._record(module_id, context, "success")

    def on_error(self, module_id: str, inputs: dict[str, Any], error: ModuleError, context: Context) -> None:
        """Counts a failure, unless it is the caller's."""
        self._record(module_id, context, _outcome_of(error, module_id))

    def _record(self, module_id: str, context: Context, outcome: Outcome) -> None:
        ticket = context.data.pop(_key(context), None)
        if ticket is None:
            return  # it was not let in
        changed = self._circuits[module_id].record(ticket, outcome)
        if changed is not None:
            level = logging.INFO if changed == "closed" else logging.ERROR
            logger.log(level, "The circuit of %s is %s now, trace %s", module_id, changed, context.trace_id)


def _key(context: Context) -> str:
    """Where the ticket of this call lies: ``data`` is shared by the chain, and siblings may run at the same time."""
    return f"_apcore.circuit_breaker.{id(context)}"


def _outcome_of(error: ModuleError, module_id: str) -> Outcome:
    if isinstance(error, ExecutionCancelledError | CircuitBreakerOpenError):
        return "neutral"
    return "failure" if is_fault(error, module_id) else "success"
