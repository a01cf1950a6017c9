"""Checks what must hold of all calls, approvals and tasks, while they happen (RFC 005). Not for production."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from apcore.context import Context, is_rehearsal
from apcore.errors import ModuleError
from apcore.events import Event
from apcore.events.invariants import InvariantChecker, InvariantError, Kind, Step
from apcore.middleware.base import Middleware

logger = logging.getLogger("apcore.invariants")

_SESSION: Final = "_apcore.invariants"
_REMEMBERED: Final = 10_000


@dataclass(slots=True)
class _Session:
    """One call from outside and all that it calls, which share one ``data``."""

    bag: dict[str, Any]
    sequence: int = 0
    open: dict[int, Context] = field(default_factory=dict)


class InvariantsMiddleware(Middleware):
    """A listener of calls (as middleware) and of events (as subscriber): nothing else knows that it is there.

    Violations are logged as ERROR; with ``raising`` a violation by a call also fails that call. It stands innermost,
    where every start has exactly one end: outer layers may replace an error, or have the module run once more. Calls
    that are cancelled end without a result, and rehearsals are no calls.
    """

    id: ClassVar[str] = "invariants"
    name = "invariants"
    priority: int = 0

    def __init__(self, *, raising: bool = False, checker: InvariantChecker | None = None) -> None:
        self._raising = raising
        self._checker = InvariantChecker(everything=False) if checker is None else checker
        self._lock = threading.Lock()
        self._sessions: OrderedDict[int, _Session] = OrderedDict()

    def before(self, module_id: str, inputs: dict[str, Any], context: Context) -> None:
        """A call starts."""
        if is_rehearsal(context):
            return
        with self._lock:
            session = self._session_of(context)
            caller = _caller(session, context)
            session.open[id(context)] = context  # kept, so that no other context gets its id
            wrong = self._see("start", session, module_id, context, caller)
        self._report(wrong)

    def after(self, module_id: str, inputs: dict[str, Any], output: dict[str, Any], context: Context) -> None:
        """A call has a result."""
        self._end(module_id, context)

    def on_error(self, module_id: str, inputs: dict[str, Any], error: ModuleError, context: Context) -> None:
        """A call has failed, or something further out has after it had succeeded."""
        session = context.data.get(_SESSION)
        if isinstance(session, _Session) and id(context) in session.open:
            self._end(module_id, context)

    def on_event(self, event: Event) -> None:
        """Something happened to an approval or a task. Raises nothing, whatever ``raising`` says."""
        _log(self._checker.hear(event))

    def _end(self, module_id: str, context: Context) -> None:
        if is_rehearsal(context):
            return
        with self._lock:
            session = self._session_of(context)
            wrong = self._skip_cancelled(session, context)
            wrong += self._see("end", session, module_id, context)
            session.open.pop(id(context), None)
            if not session.open:
                wrong += self._checker.close(id(session))
                self._sessions.pop(id(session), None)
                context.data.pop(_SESSION, None)
        self._report(wrong)

    def _see(
        self, kind: Kind, session: _Session, module_id: str, context: Context, caller: int | None = None
    ) -> list[str]:
        session.sequence += 1
        return self._checker.see(Step(kind, id(session), id(context), session.sequence, module_id, caller))

    def _skip_cancelled(self, session: _Session, ending: Context) -> list[str]:
        """Calls whose caller gave them up: they say nothing any more."""
        wrong: list[str] = []
        for context in list(session.open.values()):
            token = context.cancel_token
            if context is not ending and token is not None and token.is_cancelled:
                wrong += self._see("skip", session, context.call_chain[-1], context)
                del session.open[id(context)]
        return wrong

    def _session_of(self, context: Context) -> _Session:
        found = context.data.get(_SESSION)
        if isinstance(found, _Session) and found.bag is context.data:  # a copy of it is another call from outside
            return found
        session = context.data[_SESSION] = _Session(context.data)
        self._sessions[id(session)] = session
        while len(self._sessions) > _REMEMBERED:  # calls that were cancelled at the top never end
            self._checker.close(self._sessions.popitem(last=False)[0])
        return session

    def _report(self, wrong: list[str]) -> None:
        _log(wrong)
        if wrong and self._raising:
            raise InvariantError("; ".join(wrong))


def _caller(session: _Session, context: Context) -> int | None:
    """The call that made this one: the youngest open one whose chain is one shorter. At the top there is none."""
    chain = context.call_chain[:-1]
    if not session.open or not chain:
        return None
    callers = [key for key, each in session.open.items() if each.call_chain == chain]
    if callers:
        return callers[-1]
    is_given_up = context.cancel_token is not None and context.cancel_token.is_cancelled
    return None if is_given_up else id(context)  # itself, which is not open: there is no such call


def _log(wrong: Iterable[str]) -> None:
    for each in wrong:
        logger.error("Invariant violated: %s", each)
