"""What must hold of every sequence of calls and events, as code: the contract that listeners may rely on (RFC 005)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from apcore.events.event import Event

_REMEMBERED: Final = 10_000
"""How many requests, tasks and open roots are remembered; the oldest are forgotten first."""

_WAITING: Final = frozenset({"pending", "granted", "denied", "timeout", "cancelled", "superseded"})
APPROVAL_ORDER: Final[Mapping[str, frozenset[str]]] = {
    "requested": _WAITING,
    "pending": _WAITING,
    "granted": frozenset({"granted", "consumed", "failed", "timeout", "cancelled", "superseded"}),
    "denied": frozenset({"denied"}),
    "timeout": frozenset({"timeout"}),
    "cancelled": frozenset(),
    "superseded": frozenset(),
    "consumed": frozenset(),
    "failed": frozenset(),
}
"""What may follow what, about one approval. A caller may ask again where a request stands and hear the same."""

TASK_ORDER: Final[Mapping[str, frozenset[str]]] = {
    "submitted": frozenset({"started", "cancelled"}),
    "started": frozenset({"completed", "failed", "cancelled", "retried"}),
    "retried": frozenset({"started", "cancelled"}),
    "completed": frozenset(),
    "failed": frozenset({"retried"}),
    "cancelled": frozenset({"retried"}),
}
"""The same about one task (§5.8)."""

_ORDERS: Final = (("apcore.approval.", "approval_id", APPROVAL_ORDER), ("apcore.task.", "task_id", TASK_ORDER))


class InvariantError(AssertionError):
    """Something happened that cannot happen: a bug of the framework, of a middleware or of a module."""


Kind = Literal["start", "chunk", "end", "skip"]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened to a call.

    ``session`` is the call from outside that this one belongs to, ``sequence`` counts the steps of a session.
    ``caller`` is the call that made this one, None at the top. A ``skip`` is a call that will have no result, because
    it was cancelled.
    """

    kind: Kind
    session: Hashable
    call: Hashable
    sequence: int
    name: str = ""
    caller: Hashable | None = None


@dataclass(slots=True)
class _Session:
    last: int = 0
    open: dict[Hashable, Step] = field(default_factory=dict)
    ended: set[Hashable] = field(default_factory=set)


class InvariantChecker:
    """Watches steps and events and says what is wrong with each: an empty list if nothing is. Thread-safe.

    One that does not hear of ``everything``, because other processes work on the same approvals and tasks, takes it
    that they did what lies between two events.
    """

    def __init__(self, *, everything: bool = True) -> None:
        self._everything = everything
        self._lock = threading.Lock()
        self._sessions: OrderedDict[Hashable, _Session] = OrderedDict()
        self._states: OrderedDict[tuple[str, str], str] = OrderedDict()

    def see(self, step: Step) -> list[str]:
        """The violations that this step completes."""
        with self._lock:
            session = self._session(step.session)
            wrong = _out_of_order(session, step)
            session.last = max(session.last, step.sequence)
            look = {"start": _start, "chunk": _chunk, "end": _end, "skip": _skip}[step.kind]
            wrong += look(session, step)
            if not session.open and step.kind in ("end", "skip"):
                session.ended.clear()
            return wrong

    def close(self, session: Hashable) -> list[str]:
        """The end of a session: every call in it must have had its result."""
        with self._lock:
            left = self._sessions.pop(session, _Session())
            return [f"{step.name} has no result" for step in left.open.values()]

    def hear(self, event: Event) -> list[str]:
        """The violations that this event completes; events about neither approvals nor tasks have none."""
        for prefix, key, legal in _ORDERS:
            about = event.data.get(key)
            if event.type.startswith(prefix) and about is not None:
                return self._move(prefix, str(about), event.type.removeprefix(prefix), legal)
        return []

    def _move(self, prefix: str, about: str, state: str, legal: Mapping[str, frozenset[str]]) -> list[str]:
        with self._lock:
            before = self._states.pop((prefix, about), None)
            self._states[prefix, about] = state
            _limit(self._states)
        if before is None or state in (legal[before] if self._everything else _reachable(before, legal)):
            return []
        return [f"{prefix}{state} cannot follow {before} (of {about})"]

    def _session(self, key: Hashable) -> _Session:
        session = self._sessions.setdefault(key, _Session())
        _limit(self._sessions)
        return session


def _out_of_order(session: _Session, step: Step) -> list[str]:
    if step.sequence > session.last:
        return []
    return [f"step {step.sequence} of {step.name} comes after step {session.last}"]


def _start(session: _Session, step: Step) -> list[str]:
    wrong = [f"{step.name} starts a second time"] if step.call in session.open else []
    if step.caller is not None and step.caller not in session.open:
        wrong.append(f"{step.name} starts outside of the call that made it")
    session.open[step.call] = step
    session.ended.discard(step.call)
    return wrong


def _chunk(session: _Session, step: Step) -> list[str]:
    return [] if step.call in session.open else [f"a chunk of {step.name} comes outside of its call"]


def _end(session: _Session, step: Step) -> list[str]:
    if session.open.pop(step.call, None) is None:
        how = "a second result" if step.call in session.ended else "a result without having started"
        return [f"{step.name} has {how}"]
    session.ended.add(step.call)
    inside = [each for each in session.open.values() if each.caller == step.call]
    return [f"{step.name} ends before {each.name}, which it called" for each in inside]


def _skip(session: _Session, step: Step) -> list[str]:
    session.open.pop(step.call, None)
    return []


def _reachable(state: str, legal: Mapping[str, frozenset[str]]) -> set[str]:
    """Every state that may come after this one, sooner or later."""
    found: set[str] = set()
    waiting = [state]
    while waiting:
        following = legal[waiting.pop()] - found
        found |= following
        waiting += following
    return found


def _limit(remembered: OrderedDict[Hashable, _Session] | OrderedDict[tuple[str, str], str]) -> None:
    while len(remembered) > _REMEMBERED:
        remembered.popitem(last=False)
