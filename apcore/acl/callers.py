"""The callers that a module itself accepts (§5.2 `allowed_callers`)."""

from __future__ import annotations

from collections.abc import Sequence

from apcore.acl.patterns import EXTERNAL, compile_patterns
from apcore.context import Context


def is_system(context: Context | None) -> bool:
    """Whether the call is made by the system, which `@system` matches."""
    identity = None if context is None else context.identity
    return identity is not None and identity.type == "system"


def caller_is_listed(patterns: Sequence[str], caller_id: str | None, context: Context | None) -> bool:
    """Whether the patterns cover the caller; they narrow what the access list allows, and never widen it (C-64)."""
    matches = compile_patterns(patterns, caller_is_system=is_system(context))
    return matches(EXTERNAL if caller_id is None else caller_id)
