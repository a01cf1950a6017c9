"""Patterns over module IDs, as the ACL and the policies use them (§6.2, §6.4)."""

from __future__ import annotations


def match_pattern(pattern: str, module_id: str) -> bool:
    """Whether the pattern covers the ID; ``*`` stands for any text, dots included (§6.2).

    Both ends are anchored: ``api.*`` does not match ``evil.api.x``, and an empty pattern matches nothing.
    """
    if pattern == "*":
        return True
    if "*" not in pattern:
        return bool(pattern) and pattern == module_id
    first, *middle, last = pattern.split("*")
    end = len(module_id) - len(last)
    if end < len(first) or not module_id.startswith(first) or not module_id.endswith(last):
        return False
    position = len(first)
    for part in middle:
        found = module_id.find(part, position, end)
        if found < 0:
            return False
        position = found + len(part)
    return True


def calculate_specificity(pattern: str) -> int:
    """How specific a pattern is: 2 for each exact segment, 1 for one with a wildcard in it, 0 for ``*`` (§6.4)."""
    return sum(_segment_score(segment) for segment in pattern.split("."))


def _segment_score(segment: str) -> int:
    if segment == "*":
        return 0
    return 1 if "*" in segment else 2
