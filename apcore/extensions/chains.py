"""Several implementations of one point as one (§11.7).

``first_success``: the first that has an answer. Where somebody decides about access or approval an error ends the
search, and denies: that a check failed must not mean that a laxer one is asked. ``fallback`` says that it may be.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from asgiref.sync import iscoroutinefunction, sync_to_async

from apcore.acl import ACLChecker
from apcore.approval import ApprovalHandler, ApprovalRequest, ApprovalResult, BoundApprovalHandler
from apcore.context import Context
from apcore.discovery import FoundModule
from apcore.errors import InternalError
from apcore.extensions.interfaces import Discoverer

logger = logging.getLogger("apcore.extensions")

Found = FoundModule | tuple[str, Any]


class ChainedDiscoverer:
    """One after the other until one finds something (also past an error), or until one does not fail, or all."""

    def __init__(self, discoverers: Sequence[Discoverer], strategy: str) -> None:
        self._discoverers = tuple(discoverers)
        self._strategy = strategy

    def discover(self, config: Any) -> Iterable[Found]:
        """What was found. Raises the first error, with the others as notes, when nobody succeeds."""
        if self._strategy == "all":
            return [each for discoverer in self._discoverers for each in discoverer.discover(config)]
        failures: list[Exception] = []
        for discoverer in self._discoverers:
            try:
                found = list(discoverer.discover(config))
            except Exception as error:  # noqa: BLE001 - the next one is tried (§11.7)
                logger.error("%s.discover() failed (%s)", type(discoverer).__name__, type(error).__name__)
                failures.append(error)
                continue
            if found or self._strategy == "fallback":
                return found
        if failures:
            for other in failures[1:]:
                failures[0].add_note(f"Another discoverer failed: {type(other).__name__}")
            raise failures[0]
        return []


class ChainedACL:
    """Access lists of others in order: the first that has an opinion, with ``all`` every one has to allow."""

    def __init__(self, checkers: Sequence[ACLChecker], strategy: str) -> None:
        self._checkers = tuple(checkers)
        self._strategy = strategy

    async def check(self, caller_id: str | None, target_id: str, context: Context) -> bool:
        """Whether it is allowed; if nobody has an opinion it is not. Raises what ends the search."""
        question = (caller_id, target_id, context)
        if self._strategy == "all":
            for checker in self._checkers:
                if await _asked(checker.check, *question) is not True:
                    return False
            return True
        return await _first_answer(self._strategy, [each.check for each in self._checkers], question) is True


class ChainedApprovalHandler:
    """Approval handlers in order; one with ``supports(request)`` is asked only where that is true.

    With ``first_success`` None passes the question on, with ``fallback`` an error does.
    """

    def __init__(self, handlers: Sequence[ApprovalHandler], strategy: str) -> None:
        self._handlers = tuple(handlers)
        self._strategy = strategy

    async def request_approval(self, request: ApprovalRequest) -> ApprovalResult:
        """The first answer. Raises what ends the search, InternalError if nobody answers; either denies."""
        return await self._answer([each.request_approval for each in await self._for(request)], request)

    async def check_approval(self, approval_id: str) -> ApprovalResult:
        """The first that knows the ID answers; the call that it is used for is not known here."""
        return await self._answer([each.check_approval for each in self._handlers], approval_id)

    async def check_approval_for(self, approval_id: str, request: ApprovalRequest) -> ApprovalResult:
        """As `check_approval()`, by those that are asked about such requests."""
        asked = await self._for(request)
        return await self._answer([_check_of(handler, approval_id, request) for handler in asked])

    async def _for(self, request: ApprovalRequest) -> list[ApprovalHandler]:
        found = []
        for handler in self._handlers:
            supports = getattr(handler, "supports", None)
            if supports is None or await _asked(supports, request) is True:
                found.append(handler)
        return found

    async def _answer(self, questions: list[Callable[..., Any]], *arguments: Any) -> ApprovalResult:
        result = await _first_answer(self._strategy, questions, arguments)
        if not isinstance(result, ApprovalResult):
            raise InternalError("No approval handler has an answer")
        return result


def _check_of(handler: ApprovalHandler, approval_id: str, request: ApprovalRequest) -> Callable[[], Awaitable[Any]]:
    async def check() -> Any:
        if isinstance(handler, BoundApprovalHandler):
            return await _asked(handler.check_approval_for, approval_id, request)
        return await _asked(handler.check_approval, approval_id)

    return check


async def _first_answer(strategy: str, questions: Iterable[Callable[..., Any]], arguments: tuple[Any, ...]) -> Any:
    failure: Exception | None = None
    for ask in questions:
        try:
            answer = await _asked(ask, *arguments)
        except Exception as error:
            if strategy != "fallback":
                raise
            name = getattr(ask, "__qualname__", "an implementation")
            logger.error("%s failed (%s); the next one is asked", name, type(error).__name__)
            failure = failure or error
            continue
        if answer is not None or strategy == "fallback":
            return answer
    if failure is not None:
        raise failure
    return None


async def _asked(function: Callable[..., Any], *arguments: Any) -> Any:
    """Sync code runs where modules run, on the thread-sensitive thread, so that it may use the ORM."""
    if iscoroutinefunction(function):
        return await function(*arguments)
    answer = await sync_to_async(function, thread_sensitive=True)(*arguments)
    return await answer if hasattr(answer, "__await__") else answer
