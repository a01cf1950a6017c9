"""The state machine of a circuit breaker: one circuit for each module, told the time, locked by itself."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

State = Literal["closed", "open", "half_open"]
Outcome = Literal["success", "failure", "neutral"]


@dataclass(frozen=True, slots=True)
class CircuitLimits:
    """When a circuit opens and how it closes again; times are seconds.

    It opens when, of the calls of the last ``window`` seconds (at most the last ``calls`` of them, at least
    ``min_calls``), the share ``failure_rate`` (0 to 1) or more failed. After ``open_for`` it lets ``probes`` calls
    through at a time; as many successes in a row close it, one failure opens it again.
    """

    failure_rate: float
    min_calls: int
    calls: int
    window: float
    open_for: float
    probes: int


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether a call may go ahead: its ticket, or after how many seconds it is worth asking again."""

    ticket: int | None
    retry_after: float = 0.0


class Circuit:
    """Closed: calls pass and are counted. Open: none passes. Half open: a few do, to find out (thread-safe).

    A ticket says which state let a call in: the outcome of a call from before the last change of state counts no more.
    A probe of which nothing is heard for ``open_for`` is given up: a lost one cannot keep the circuit half open.
    """

    __slots__ = (
        "_clock",
        "_epoch",
        "_failures",
        "_limits",
        "_lock",
        "_outcomes",
        "_probes",
        "_since",
        "_state",
        "_won",
    )

    def __init__(self, limits: CircuitLimits, clock: Callable[[], float]) -> None:
        self._limits = limits
        self._clock = clock
        self._lock = threading.Lock()
        self._epoch = 0
        self._begin("closed", clock())

    @property
    def state(self) -> State:
        """The state as the last call left it; an open circuit turns half open when the next one asks."""
        return self._state

    def _begin(self, state: State, now: float) -> None:
        self._state: State = state
        self._since = now
        self._epoch += 1
        self._outcomes: deque[tuple[float, bool]] = deque()
        self._failures = 0
        self._probes: deque[float] = deque()
        self._won = 0

    def admit(self) -> Admission:
        """Ask for a call to be let in."""
        limits = self._limits
        with self._lock:
            if self._state == "closed":
                return Admission(self._epoch)
            now = self._clock()
            if self._state == "open":
                left = self._since + limits.open_for - now
                if left > 0:
                    return Admission(None, left)
                self._begin("half_open", now)
            while self._probes and now - self._probes[0] >= limits.open_for:
                self._probes.popleft()
            if len(self._probes) >= limits.probes:
                return Admission(None, self._probes[0] + limits.open_for - now)
            self._probes.append(now)
            return Admission(self._epoch)

    def record(self, ticket: int, outcome: Outcome) -> State | None:
        """Tell how a call that was let in ended; the new state if this changed it."""
        with self._lock:
            if ticket != self._epoch:
                return None
            now = self._clock()
            if self._state == "closed":
                return self._count(outcome, now)
            return self._judge_probe(outcome, now)

    def _count(self, outcome: Outcome, now: float) -> State | None:
        if outcome == "neutral":
            return None
        limits, outcomes = self._limits, self._outcomes
        outcomes.append((now, outcome == "failure"))
        self._failures += outcome == "failure"
        while outcomes and (len(outcomes) > limits.calls or now - outcomes[0][0] >= limits.window):
            self._failures -= outcomes.popleft()[1]
        if outcome == "success" or len(outcomes) < limits.min_calls:
            return None
        if self._failures < limits.failure_rate * len(outcomes):
            return None
        self._begin("open", now)
        return "open"

    def _judge_probe(self, outcome: Outcome, now: float) -> State | None:
        if self._probes:
            self._probes.popleft()
        if outcome == "failure":
            self._begin("open", now)
            return "open"
        if outcome == "success":
            self._won += 1
            if self._won >= self._limits.probes:
                self._begin("closed", now)
                return "closed"
        return None
