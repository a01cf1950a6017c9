"""An immutable, compiled set of rules (§6.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from apcore.acl.callers import is_system
from apcore.acl.conditions import Answer, Condition, Vocabulary, compile_conditions
from apcore.acl.index import Entry, Index, keys_of
from apcore.acl.patterns import EXTERNAL, OPERATORS, SYSTEM, Matcher, compile_patterns
from apcore.acl.rules import EFFECTS, ACLRule, Effect
from apcore.context import Context
from apcore.errors import ACLRuleError

NO_CUSTOM_CONDITIONS: Final = Vocabulary()


@dataclass(frozen=True, slots=True)
class ACLDecision:
    """The answer to one question: the effect, the rule that gave it (None: the default did), and why, in words."""

    effect: Effect
    matched_rule: ACLRule | None
    rule_index: int | None
    reason: str
    allowed: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "allowed", self.effect == "allow")


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A rule as functions; `untold` is the decision when its conditions cannot be told, None to go on."""

    callers: Matcher
    targets: Matcher
    condition: Condition | None
    decision: ACLDecision
    untold: ACLDecision | None

    def decide(self, answer: Answer) -> ACLDecision | None:
        """The decision that the answer of the conditions leads to, or None."""
        if answer is None:
            return self.untold
        return self.decision if answer else None


@dataclass(frozen=True, slots=True)
class IndexedRules:
    """The rules for one kind of caller, and the index over their numbers."""

    rules: Sequence[CompiledRule]
    index: Index


class Policy:
    """Rules in definition order and a default effect, compiled once and never changed (§6.3).

    Raises ACLRuleError naming the rule and the field.
    """

    __slots__ = (
        "_default",
        "_for_others",
        "_for_system",
        "default_effect",
        "has_async_conditions",
        "has_custom_conditions",
        "rules",
    )

    def __init__(
        self,
        rules: Sequence[ACLRule] = (),
        default_effect: Effect = "deny",
        vocabulary: Vocabulary = NO_CUSTOM_CONDITIONS,
    ) -> None:
        if default_effect not in EFFECTS:
            raise ACLRuleError(
                f"default_effect must be 'allow' or 'deny', not {default_effect!r}", details={"field": "default_effect"}
            )
        self.rules = tuple(rules)
        self.default_effect = default_effect
        conditions = [_condition(index, rule, vocabulary) for index, rule in enumerate(self.rules)]
        self.has_async_conditions = any(each is not None and each.holds_async is not None for each in conditions)
        self.has_custom_conditions = any(each is not None and each.is_custom for each in conditions)
        self._for_others = self._compiled(conditions, caller_is_system=False)
        knows_system = any(SYSTEM in rule.callers for rule in self.rules)
        self._for_system = self._compiled(conditions, caller_is_system=True) if knows_system else self._for_others
        self._default = ACLDecision(default_effect, None, None, f"no rule matched, the default is {default_effect}")

    def first_match(self, caller_id: str | None, target_id: str, context: Context | None) -> ACLDecision:
        """The decision of the first rule that matches, or the default (§6.3)."""
        for rule in self._candidates(caller_id, target_id, context):
            if rule.condition is None:
                return rule.decision
            if context is None:
                continue
            decision = rule.decide(rule.condition.holds(context))
            if decision is not None:
                return decision
        return self._default

    async def first_match_async(self, caller_id: str | None, target_id: str, context: Context | None) -> ACLDecision:
        """As `first_match()`, awaiting the conditions that are async."""
        for rule in self._candidates(caller_id, target_id, context):
            if rule.condition is None:
                return rule.decision
            if context is None:
                continue
            decision = rule.decide(await rule.condition.answer(context))
            if decision is not None:
                return decision
        return self._default

    def _candidates(self, caller_id: str | None, target_id: str, context: Context | None) -> Iterator[CompiledRule]:
        """The rules whose patterns match, in order; their conditions are still to be asked."""
        caller = EXTERNAL if caller_id is None else caller_id
        if caller in OPERATORS or target_id in OPERATORS:
            yield _REFUSED
        indexed = self._for_system if is_system(context) else self._for_others
        for number in indexed.index.candidates(caller, target_id):
            rule = indexed.rules[number]
            if rule.targets(target_id) and rule.callers(caller):
                yield rule

    def _compiled(self, conditions: Sequence[Condition | None], *, caller_is_system: bool) -> IndexedRules:
        rules = tuple(
            CompiledRule(
                callers=compile_patterns(rule.callers, caller_is_system=caller_is_system),
                targets=compile_patterns(rule.targets),
                condition=condition,
                decision=ACLDecision(rule.effect, rule, index, f"{rule.effect} by {_name(index, rule)}"),
                untold=_untold(index, rule),
            )
            for index, (rule, condition) in enumerate(zip(self.rules, conditions, strict=True))
        )
        entries = (
            Entry(
                number,
                callers=keys_of(rule.callers, caller_is_system=caller_is_system),
                targets=keys_of(rule.targets),
                is_final=condition is None,
            )
            for number, (rule, condition) in enumerate(zip(self.rules, conditions, strict=True))
        )
        return IndexedRules(rules, Index(entries))


def _condition(index: int, rule: ACLRule, vocabulary: Vocabulary) -> Condition | None:
    if rule.conditions is None:
        return None
    try:
        return compile_conditions(rule.conditions, vocabulary)
    except ACLRuleError as error:
        name = _name(index, rule)
        raise ACLRuleError(
            f"{name}: {error.message}", details={**error.details, "rule": name}, user_fixable=True
        ) from error


def _untold(index: int, rule: ACLRule) -> ACLDecision | None:
    """Fail closed: an allow rule whose conditions cannot be told allows nothing, a deny rule still denies."""
    if rule.effect == "allow":
        return None
    return ACLDecision("deny", rule, index, f"deny by {_name(index, rule)}, whose conditions cannot be told")


def _name(index: int, rule: ACLRule) -> str:
    return f"rule {index + 1} ({rule.description})" if rule.description else f"rule {index + 1}"


_NOT_AN_ID = ACLDecision("deny", None, None, "$or and $not are not module IDs")
_REFUSED = CompiledRule(lambda value: True, lambda value: True, None, _NOT_AN_ID, _NOT_AN_ID)
