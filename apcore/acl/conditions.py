"""Conditions of rules, compiled to functions over the context (§6.1).

The logic has three values: True, False, and None for "cannot be told", which is what a failing handler and an async
handler under a sync check give. None survives `$not`, so that what cannot be told is never read as fulfilled.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apcore.context import Context, pass_on_cancellation, tells_to_stop
from apcore.errors import ACLRuleError
from apcore.errors.telling import told

logger = logging.getLogger("apcore.acl")

Answer = bool | None
ConditionHandler = Callable[[Any, Context], bool | Awaitable[bool]]
"""Called with the value that the rule gives to the condition, and with the context of the call; returns a bool."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A compiled condition; `holds_async` is None when it is `holds`. Custom ones ask a handler, which may be slow."""

    holds: Callable[[Context], Answer]
    holds_async: Callable[[Context], Awaitable[Answer]] | None = None
    is_custom: bool = False

    async def answer(self, context: Context) -> Answer:
        """The answer of an async check, which awaits the handlers that need it."""
        return self.holds(context) if self.holds_async is None else await self.holds_async(context)


@dataclass(frozen=True, slots=True)
class Handlers:
    """The functions behind one custom condition; at least one of them is set."""

    sync: Callable[[Any, Context], Any] | None
    asynchronous: Callable[[Any, Context], Awaitable[Any]] | None


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The custom conditions that rules may use; while it is not complete, a name may still be registered."""

    handlers: Mapping[str, Handlers] = field(default_factory=dict)
    is_complete: bool = True

    def may_still_know(self, name: str) -> bool:
        """Whether a name that means nothing yet may come to mean something; ``$`` belongs to the protocol."""
        return not self.is_complete and not name.startswith("$")


def compile_conditions(conditions: Mapping[str, Any], vocabulary: Vocabulary) -> Condition:
    """All conditions of one object, joined by AND. Raises ACLRuleError for an unknown condition or a wrong value."""
    return _all_of([_compile(key, value, vocabulary) for key, value in conditions.items()])


def _compile(key: str, value: Any, vocabulary: Vocabulary) -> Condition:
    if key == "$or":
        return _any_of([_compile_alternative(each, vocabulary) for each in _objects(key, value)])
    if key == "$not":
        return _not(compile_conditions(value, vocabulary)) if _object(key, value) else _NEVER
    if key in BUILT_IN:
        return BUILT_IN[key](key, value)
    if key in vocabulary.handlers:
        return _ask(key, value, vocabulary.handlers[key])
    if vocabulary.may_still_know(key):
        return _unknown(key)
    known = ", ".join([*BUILT_IN, "$or", "$not", *vocabulary.handlers])
    raise _fault(key, f"is not a condition; known are {known}")


def _compile_alternative(conditions: Mapping[str, Any], vocabulary: Vocabulary) -> Condition:
    # An empty object demands nothing, which as an alternative would make the whole condition void.
    return compile_conditions(conditions, vocabulary) if conditions else _NEVER


def _unknown(key: str) -> Condition:
    def holds(context: Context) -> Answer:
        logger.warning("ACL condition '%s' is not registered and cannot be told", key)
        return None

    return Condition(holds)


def _identity_types(key: str, value: Any) -> Condition:
    accepted = frozenset(_texts(key, value))
    return Condition(lambda context: context.identity is not None and context.identity.type in accepted)


def _roles(key: str, value: Any) -> Condition:
    accepted = frozenset(_texts(key, value))
    return Condition(lambda context: context.identity is not None and not accepted.isdisjoint(context.identity.roles))


def _max_call_depth(key: str, value: Any) -> Condition:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _fault(key, f"must be a whole number from 0 on, not {value!r}")
    return Condition(lambda context: len(context.call_chain) <= value)


BUILT_IN: Mapping[str, Callable[[str, Any], Condition]] = {
    "identity_types": _identity_types,
    "roles": _roles,
    "max_call_depth": _max_call_depth,
}

_NEVER = Condition(lambda context: False)


def _all_of(parts: Sequence[Condition]) -> Condition:
    if len(parts) == 1:
        return parts[0]

    def holds(context: Context) -> Answer:
        verdict: Answer = True
        for part in parts:
            answer = part.holds(context)
            if answer is False:
                return False
            verdict = verdict and answer
        return verdict

    async def holds_async(context: Context) -> Answer:
        verdict: Answer = True
        for part in parts:
            answer = await part.answer(context)
            if answer is False:
                return False
            verdict = verdict and answer
        return verdict

    return Condition(
        holds,
        holds_async if any(part.holds_async for part in parts) else None,
        is_custom=any(part.is_custom for part in parts),
    )


def _any_of(parts: Sequence[Condition]) -> Condition:
    return _not(_all_of([_not(part) for part in parts]))


def _not(part: Condition) -> Condition:
    async def holds_async(context: Context) -> Answer:
        return _inverted(await part.answer(context))

    return Condition(
        lambda context: _inverted(part.holds(context)),
        holds_async if part.holds_async else None,
        is_custom=part.is_custom,
    )


def _inverted(answer: Answer) -> Answer:
    return None if answer is None else not answer


def _ask(key: str, value: Any, handlers: Handlers) -> Condition:
    ask, ask_async = handlers.sync, handlers.asynchronous

    def holds(context: Context) -> Answer:
        if ask is None:
            logger.warning("ACL condition '%s' is async only and cannot be told in a sync check", key)
            return None
        try:
            return _checked(key, ask(value, context))
        except (Exception, SystemExit, asyncio.CancelledError) as error:  # noqa: BLE001 - it gives no answer, whatever it is
            _tell(key, error)
            return None

    if ask_async is None:
        return Condition(holds, is_custom=True)

    async def holds_async(context: Context) -> Answer:
        try:
            return _checked(key, await ask_async(value, context))
        except (Exception, SystemExit, asyncio.CancelledError) as error:  # noqa: BLE001 - it gives no answer, whatever it is
            _tell(key, error)
            return None

    return Condition(holds, holds_async, is_custom=True)


def _tell(key: str, error: BaseException) -> None:
    """Log why a handler gave no answer. Raises what was not its own: an end of the process, or of this task."""
    if tells_to_stop(error):
        raise error
    pass_on_cancellation(error)
    logger.error("ACL condition '%s' failed: %s", key, told(error))


def _checked(key: str, answer: Any) -> Answer:
    # A coroutine or a list would count as true: only a bool is an answer.
    if isinstance(answer, bool):
        return answer
    if inspect.iscoroutine(answer):
        answer.close()
    logger.error("ACL condition '%s' returned %s, not a bool", key, type(answer).__name__)
    return None


def _texts(key: str, value: Any) -> Sequence[str]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(each, str) for each in value):
        raise _fault(key, "must be a list of texts")
    return value


def _object(key: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _fault(key, "must be an object of conditions")
    return value


def _objects(key: str, value: Any) -> Sequence[Mapping[str, Any]]:
    if not isinstance(value, (list, tuple)):
        raise _fault(key, "must be a list of objects of conditions")
    return [_object(key, each) for each in value]


def _fault(key: str, problem: str) -> ACLRuleError:
    return ACLRuleError(f"condition '{key}' {problem}", details={"field": f"conditions.{key}"}, user_fixable=True)
