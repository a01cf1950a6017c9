"""The access control list of an executor (§6)."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from apcore.acl.audit import AuditLog, AuditSettings
from apcore.acl.conditions import BUILT_IN, ConditionHandler, Handlers, Vocabulary
from apcore.acl.loading import read_acl
from apcore.acl.policy import ACLDecision, Policy
from apcore.acl.rules import ACLRule, Effect
from apcore.context import Context
from apcore.errors import ACLRuleError

AsyncConditionHandler = Callable[[Any, Context], Awaitable[bool]]


class ACL:
    """Who may call what: the first matching rule decides, else the default effect (§6.3).

    The rules are an immutable `Policy` that is replaced as a whole, so a check takes no lock and sees one policy.
    Conditions of one's own are given in ``conditions``, which are all there are then, or registered later: until then
    a rule that uses one cannot be told, and allows nothing. Raises ACLRuleError for rules that are malformed, or use a
    condition that ``conditions`` lack.
    """

    def __init__(
        self,
        rules: Iterable[ACLRule | Mapping[str, Any]] = (),
        default_effect: Effect = "deny",
        *,
        conditions: Mapping[str, ConditionHandler] | None = None,
        audit: AuditSettings | None = None,
    ) -> None:
        given: object = conditions or {}
        if not isinstance(given, Mapping):
            raise _wrong("conditions", "an object of handlers by name", given)
        settings: object = AuditSettings() if audit is None else audit
        if not isinstance(settings, AuditSettings):
            raise _wrong("audit", "AuditSettings", settings)
        handlers = {name: _handlers(name, each, None) for name, each in given.items()}
        self._vocabulary = Vocabulary(handlers, is_complete=conditions is not None)
        self._audit = AuditLog(settings)
        self._policy = Policy(_read(rules), default_effect, self._vocabulary)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        default_effect: Effect = "deny",
        conditions: Mapping[str, ConditionHandler] | None = None,
        audit: AuditSettings | None = None,
    ) -> Self:
        """Read an ACL file, or a directory of them; `default_effect` and `audit` count if they give none (§6.1).

        Raises ACLRuleError naming file, rule and field, also for a condition that is not among `conditions`.
        """
        file = read_acl(path)
        effect, known = file.default_effect or default_effect, {} if conditions is None else conditions
        return cls(file.rules, effect, conditions=known, audit=file.audit or audit)

    @property
    def policy(self) -> Policy:
        """The rules that count now."""
        return self._policy

    @property
    def is_stale(self) -> bool:
        """Whether the executor has to call `refresh()` before it asks: never, where the rules are only in memory."""
        return False

    def refresh(self) -> None:
        """Read the rules again from where a subclass keeps them. The executor calls it where it may block."""

    @property
    def has_async_conditions(self) -> bool:
        """Whether a rule needs `evaluate_async()` to be told."""
        return self.policy.has_async_conditions

    def check(self, caller_id: str | None, target_id: str, context: Context | None = None) -> bool:
        """Whether the caller may call the target; None is a call from outside (§12.2)."""
        return self.evaluate(caller_id, target_id, context).allowed

    def evaluate(self, caller_id: str | None, target_id: str, context: Context | None = None) -> ACLDecision:
        """The decision with the rule that made it. Async conditions cannot be told here and count as not fulfilled."""
        decision = self.policy.first_match(caller_id, target_id, context)
        self.audit(decision, caller_id, target_id, context)
        return decision

    async def evaluate_async(
        self, caller_id: str | None, target_id: str, context: Context | None = None
    ) -> ACLDecision:
        """As `evaluate()`, awaiting async conditions."""
        decision = await self.policy.first_match_async(caller_id, target_id, context)
        self.audit(decision, caller_id, target_id, context)
        return decision

    def audit(self, decision: ACLDecision, caller_id: str | None, target_id: str, context: Context | None) -> None:
        """Log a decision that was not made by `evaluate()`, which logs its own."""
        self._audit.record(decision, caller_id, target_id, context)

    def replace(self, rules: Iterable[ACLRule | Mapping[str, Any]], default_effect: Effect | None = None) -> None:
        """Put new rules in force, in one step. Raises ACLRuleError, also for unknown conditions; the old ones stay."""
        effect = self._policy.default_effect if default_effect is None else default_effect
        self._policy = Policy(_read(rules), effect, Vocabulary(self._vocabulary.handlers))

    def register_condition(
        self, name: str, handler: ConditionHandler, *, async_handler: AsyncConditionHandler | None = None
    ) -> None:
        """Add a condition to the vocabulary of this ACL's rules; `handler(value, context)` returns a bool.

        An async `handler` alone can be told in async checks only; give both to serve both kinds. A handler that fails
        or returns anything but a bool leaves the condition untold: an allow rule then does not match, a deny rule
        denies. Raises ACLRuleError for a name that is taken by the protocol.
        """
        handlers = {**self._vocabulary.handlers, name: _handlers(name, handler, async_handler)}
        self._vocabulary = Vocabulary(handlers, self._vocabulary.is_complete)
        self._policy = Policy(self._policy.rules, self._policy.default_effect, self._vocabulary)


def evaluate_acl(
    caller: str | None,
    target: str,
    rules: Iterable[ACLRule | Mapping[str, Any]],
    default_effect: Effect = "deny",
    context: Context | None = None,
) -> ACLDecision:
    """The decision of rules that are asked once, with the rule that matched (§6.3). Who asks often keeps an `ACL`.

    Raises ACLRuleError for rules that are malformed or use a condition of one's own.
    """
    return Policy(_read(rules), default_effect).first_match(caller, target, context)


def _read(rules: Iterable[ACLRule | Mapping[str, Any]]) -> list[ACLRule]:
    given: object = rules
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        raise _wrong("rules", "a list of rules", given)
    return [
        rule if isinstance(rule, ACLRule) else ACLRule.from_dict(rule, f"rule {number}")
        for number, rule in enumerate(rules, 1)
    ]


def _handlers(name: str, handler: ConditionHandler, async_handler: AsyncConditionHandler | None) -> Handlers:
    given: object = name
    if not isinstance(given, str) or not given:
        raise ACLRuleError(f"A condition has a name, not {name!r}", details={"field": "conditions"})
    if name in BUILT_IN or name.startswith("$"):
        raise ACLRuleError(f"The condition '{name}' belongs to the protocol", details={"field": f"conditions.{name}"})
    functions: list[object] = [handler] if async_handler is None else [handler, async_handler]
    for function in functions:
        if not callable(function):
            raise _wrong(f"The handler of condition '{name}'", "a function of the value and the context", function)
    if async_handler is None and inspect.iscoroutinefunction(handler):
        return Handlers(None, handler)
    return Handlers(handler, async_handler)


def _wrong(what: str, expected: str, given: object) -> ACLRuleError:
    return ACLRuleError(f"{what} must be {expected}, not {type(given).__name__}", details={"field": what})
