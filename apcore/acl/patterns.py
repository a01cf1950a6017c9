"""Pattern arrays of rules, compiled to one function each (§6.2, §6.2.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from apcore.ids import match_pattern

Matcher = Callable[[str], bool]

EXTERNAL: Final = "@external"
"""The caller of a call that no module made."""
SYSTEM: Final = "@system"
"""Matches callers whose identity is of type `system`."""
OPERATORS: Final = frozenset({"$or", "$not"})


def compile_patterns(patterns: Sequence[str], *, caller_is_system: bool = False) -> Matcher:
    """One function that tells whether an ID matches the array: any pattern, or the operator in front says otherwise.

    `@system` depends on the identity and not on the ID, so an array that may hold it is compiled for each case.
    """
    positive = alternatives(patterns, caller_is_system=caller_is_system)
    if positive is None:
        return _negated(_any_of(_plain(patterns[1:2], caller_is_system)))
    return _any_of(positive)


def alternatives(patterns: Sequence[str], *, caller_is_system: bool = False) -> Sequence[str] | None:
    """The plain patterns any of which makes the array match; None if it matches what a pattern does not."""
    if patterns and patterns[0] == "$not":
        # Only the first pattern counts; without one the array matches nothing (§6.2.1).
        return None if len(patterns) > 1 else ()
    return _plain(patterns[1:] if patterns and patterns[0] == "$or" else patterns, caller_is_system)


def _plain(patterns: Sequence[str], caller_is_system: bool) -> Sequence[str]:
    if caller_is_system and SYSTEM in patterns:
        return ("*",)
    # Operators that are not in front are literals, which no ID may equal (§6.2.1).
    return [each for each in patterns if each != SYSTEM and each not in OPERATORS]


def _any_of(patterns: Sequence[str]) -> Matcher:
    literals = frozenset(each for each in patterns if "*" not in each)
    wildcards = [each for each in patterns if "*" in each]
    if any(set(each) == {"*"} for each in wildcards):
        return _always
    prefixes = tuple(each.rstrip("*") for each in wildcards if "*" not in each.rstrip("*"))
    general = [partial(match_pattern, each) for each in wildcards if "*" in each.rstrip("*")]
    matchers: list[Matcher] = [*general]
    if prefixes:
        matchers.insert(0, _starts_with(prefixes))
    if literals:
        matchers.insert(0, literals.__contains__)
    return _first_of(matchers)


def _first_of(matchers: Sequence[Matcher]) -> Matcher:
    if not matchers:
        return _never
    if len(matchers) == 1:
        return matchers[0]
    return lambda value: any(matcher(value) for matcher in matchers)


def _starts_with(prefixes: tuple[str, ...]) -> Matcher:
    return lambda value: value.startswith(prefixes)


def _negated(matcher: Matcher) -> Matcher:
    return lambda value: not matcher(value)


def _always(value: str) -> bool:
    return True


def _never(value: str) -> bool:
    return False
