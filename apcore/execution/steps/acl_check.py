"""Step 4: may this caller call this module (§6)?"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from time import monotonic
from typing import Any, Final

from asgiref.sync import iscoroutinefunction

from apcore.acl import ACL, ACLChecker, ACLDecision, caller_is_listed
from apcore.context import pass_on_cancellation
from apcore.errors import ACLDeniedError, ModuleTimeoutError
from apcore.pipeline import PipelineState, settled

logger = logging.getLogger("apcore.acl")

LIMIT_MS: Final = 1_000
"""What the handlers of conditions may take for one check, apart from the limits of the call (§12.7.5)."""


class AclCheck:
    """The access list and the module's own `allowed_callers` must both allow; without either all is allowed (C-64)."""

    def __init__(self, acl: ACL | ACLChecker | None) -> None:
        self._acl = acl if isinstance(acl, ACL) else None
        self._checker = None if isinstance(acl, ACL) else acl

    def run(self, state: PipelineState) -> Coroutine[Any, Any, None] | None:
        """Raises ACLDeniedError. The caller learns that it was denied, the log of the ACL why.

        A coroutine does so where somebody has to be asked: the database, handlers of conditions, another's access list.
        """
        if not self._is_listed(state):
            raise _denied(state)
        acl, context = self._acl, state.context
        if acl is None:
            return None if self._checker is None else self._require(self._is_allowed_by(self._checker, state), state)
        if acl.is_stale or acl.policy.has_custom_conditions:
            return self._require(self._is_allowed(acl, state), state)
        if not acl.evaluate(context.caller_id, state.module_id, context).allowed:
            raise _denied(state)
        return None

    async def _require(self, answer: Coroutine[Any, Any, bool], state: PipelineState) -> None:
        if not await answer:
            raise _denied(state)

    def _is_listed(self, state: PipelineState) -> bool:
        accepted, context = state.definition.allowed_callers, state.context
        if accepted is None or caller_is_listed(accepted, context.caller_id, context):
            return True
        logger.info("Denied: %s does not list its caller, trace %s", state.module_id, context.trace_id)
        return False

    async def _is_allowed(self, acl: ACL, state: PipelineState) -> bool:
        if acl.is_stale:
            await state.runner.call(acl.refresh)
        if acl.policy.has_custom_conditions:
            return (await self._decided_in_time(acl, state)).allowed
        return acl.evaluate(state.context.caller_id, state.module_id, state.context).allowed

    async def _is_allowed_by(self, checker: ACLChecker, state: PipelineState) -> bool:
        """What somebody else's access list says; its errors and its silence deny (§11.3)."""
        question = Question(checker.check, state)
        try:
            answer: object = await question.answer()
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - whatever it is, it has not allowed anything
            pass_on_cancellation(error)
            name, trace_id = type(checker).__name__, state.context.trace_id
            logger.error("Denied: %s.check() failed (%s), trace %s", name, type(error).__name__, trace_id)
            return False
        return answer is True

    async def _decided_in_time(self, acl: ACL, state: PipelineState) -> ACLDecision:
        """The decision of rules that ask handlers, which may be slow: past the time limit it is "deny" (§12.7.5)."""
        policy, context = acl.policy, state.context
        question = Question(policy.first_match_async if policy.has_async_conditions else policy.first_match, state)
        try:
            decision: ACLDecision = await question.answer()
        except ModuleTimeoutError:
            decision = ACLDecision("deny", None, None, f"no rule decided within {LIMIT_MS:,} ms")
        acl.audit(decision, context.caller_id, state.module_id, context)
        return decision


class Question:
    """May this caller call this module? Put to somebody else's code, which has a limit of its own."""

    __slots__ = ("_ask", "_state", "limit_ms")

    def __init__(self, ask: Callable[..., Any], state: PipelineState) -> None:
        self._ask = ask
        self._state = state
        self.limit_ms = LIMIT_MS

    async def answer(self) -> Any:
        """Raises ModuleTimeoutError if there is none in time."""
        state, ask = self._state, self._wait if iscoroutinefunction(self._ask) else self._call
        return await settled(state.runner.call_within(monotonic() + self.limit_ms / 1000, state.context, ask))

    def _call(self) -> Any:
        state = self._state
        return self._ask(state.context.caller_id, state.module_id, state.context)

    async def _wait(self) -> Any:
        return await self._call()


def _denied(state: PipelineState) -> ACLDeniedError:
    caller = state.context.caller_id or "@external"
    return ACLDeniedError(
        f"{caller} may not call {state.module_id}", details={"caller_id": caller, "target_id": state.module_id}
    )
