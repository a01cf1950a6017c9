"""The conventional keys of a module's metadata (§4.6): the framework reads none of them, it helps to write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

CONTEXT_KEYS: Final = "x-required-context-keys"

CONTEXT_FIELDS: Final = frozenset(
    {
        "call_chain",
        "caller_id",
        "cancel_token",
        "data",
        "deadline",
        "executor",
        "identity",
        "prepared_for",
        "redacted_inputs",
        "span",
        "attempt",
        "sensitive_keys",
        "services",
        "trace_id",
    }
)
"""The fields of a `Context` itself, which are no keys of `context.data`."""


def misplaced_context_keys(metadata: Mapping[str, Any]) -> list[str]:
    """What `x-required-context-keys` lists although the framework owns it: the key is about `context.data` alone."""
    listed = metadata.get(CONTEXT_KEYS)
    if not isinstance(listed, (list, tuple)):
        return []
    return [key for key in listed if isinstance(key, str) and key in CONTEXT_FIELDS]
