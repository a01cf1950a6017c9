"""The state machine against a plain model of it, and its edges."""

from __future__ import annotations

import threading
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from apcore.middleware.circuits import Circuit, CircuitLimits, Outcome

LIMITS = CircuitLimits(failure_rate=0.5, min_calls=2, calls=6, window=30.0, open_for=10.0, probes=2)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class CircuitMachine(RuleBasedStateMachine):
    """A model that remembers everything and forgets nothing in place, checked after every step."""

    @initialize()
    def begin(self) -> None:
        self.clock = Clock()
        self.circuit = Circuit(LIMITS, self.clock)
        self.state = "closed"
        self.opened_at = 0.0
        self.counted: list[tuple[float, bool]] = []
        self.running: list[tuple[int, int]] = []  # (ticket, generation of the model)
        self.probes: list[float] = []
        self.won = 0
        self.generation = 0

    def _turn(self, state: str) -> None:
        self.state, self.opened_at, self.counted = state, self.clock.now, []
        self.probes, self.won, self.generation = [], 0, self.generation + 1

    @rule(seconds=st.sampled_from([0.5, 3.0, 9.5, 10.0, 31.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule()
    def a_call_asks(self) -> None:
        admission = self.circuit.admit()
        if self.state == "open" and self.clock.now - self.opened_at >= LIMITS.open_for:
            self._turn("half_open")
        if self.state == "half_open":
            self.probes = [begun for begun in self.probes if self.clock.now - begun < LIMITS.open_for]
        allowed = self.state == "closed" or (self.state == "half_open" and len(self.probes) < LIMITS.probes)
        assert (admission.ticket is not None) == allowed
        if admission.ticket is None:
            assert 0 < admission.retry_after <= LIMITS.open_for
            return
        if self.state == "half_open":
            self.probes.append(self.clock.now)
        self.running.append((admission.ticket, self.generation))

    @precondition(lambda self: self.running)
    @rule(data=st.data(), outcome=st.sampled_from(["success", "failure", "neutral"]))
    def a_call_ends(self, data: Any, outcome: Outcome) -> None:
        ticket, generation = self.running.pop(data.draw(st.integers(0, len(self.running) - 1)))
        changed = self.circuit.record(ticket, outcome)
        before = self.state
        if generation == self.generation:
            self._model_end(outcome)
        assert changed == (self.state if self.state != before else None)

    def _model_end(self, outcome: Outcome) -> None:
        if self.state == "closed" and outcome != "neutral":
            self.counted.append((self.clock.now, outcome == "failure"))
            recent = [each for each in self.counted if self.clock.now - each[0] < LIMITS.window][-LIMITS.calls :]
            failures = sum(failed for _, failed in recent)
            if outcome == "failure" and len(recent) >= LIMITS.min_calls and failures / len(recent) >= 0.5:
                self._turn("open")
        elif self.state == "half_open":
            self.probes = self.probes[1:]
            self.won += outcome == "success"
            if outcome == "failure":
                self._turn("open")
            elif self.won >= LIMITS.probes:
                self._turn("closed")

    @invariant()
    def they_agree(self) -> None:
        if hasattr(self, "circuit"):
            assert self.circuit.state == self.state


TestCircuit = CircuitMachine.TestCase


def test_of_many_threads_exactly_the_probes_get_in() -> None:
    clock = Clock()
    circuit = Circuit(LIMITS, clock)
    for _ in range(LIMITS.min_calls):
        ticket = circuit.admit().ticket
        assert ticket is not None
        circuit.record(ticket, "failure")
    assert circuit.state == "open"
    clock.now += LIMITS.open_for
    admitted: list[int] = []
    barrier = threading.Barrier(16)

    def ask() -> None:
        barrier.wait()
        ticket = circuit.admit().ticket
        if ticket is not None:
            admitted.append(ticket)

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(admitted) == LIMITS.probes
