"""What a module ID may look like (§2.1, §2.5, §2.7)."""

from __future__ import annotations

import re
from typing import Final

from apcore.errors import InvalidModuleIdError

MAX_ID_LENGTH: Final = 192

FRAMEWORK_WORDS: Final = frozenset({"system", "internal", "core", "apcore", "plugin", "schema", "acl", "ephemeral"})
LANGUAGE_KEYWORDS: Final = frozenset(
    {"class", "def", "import", "return", "if", "else", "for", "while", "true", "false", "null", "none"}
)
RESERVED_WORDS: Final = FRAMEWORK_WORDS | LANGUAGE_KEYWORDS

_SEGMENT: Final = r"[a-z][a-z0-9_]*"
_SEGMENT_PATTERN: Final = re.compile(_SEGMENT)
CANONICAL_ID_PATTERN: Final = re.compile(rf"{_SEGMENT}(\.{_SEGMENT})*")

_SUGGESTION: Final = "Use lower-case letters, digits and single underscores, in segments joined by dots"


def is_canonical_id(module_id: object) -> bool:
    """Whether the text is inside the grammar; reserved words are the registry's affair (§2.7)."""
    return _fault_in(module_id) is None


def is_segment(text: str) -> bool:
    """Whether the text can stand between two dots of a module ID (§2.7)."""
    return _SEGMENT_PATTERN.fullmatch(text) is not None and "__" not in text


def validate_canonical_id(module_id: object) -> None:
    """Raises ``InvalidModuleIdError`` unless the text is inside the grammar (§2.1, §2.7)."""
    fault = _fault_in(module_id)
    if fault is None:
        return
    raise InvalidModuleIdError(
        f"Invalid module ID {_shorten(module_id)}: {fault}",
        details={"module_id": module_id if isinstance(module_id, str) else None},
        user_fixable=True,
        suggestion=_SUGGESTION,
    )


def _fault_in(module_id: object) -> str | None:
    if not isinstance(module_id, str):
        return "it is not a string"
    if not module_id:
        return "it is empty"
    if len(module_id) > MAX_ID_LENGTH:
        return f"it has {len(module_id)} characters, at most {MAX_ID_LENGTH} are allowed"
    # fullmatch, because "$" would let a trailing newline pass
    if CANONICAL_ID_PATTERN.fullmatch(module_id) is None:
        return "a segment is a lower-case letter followed by lower-case letters, digits or underscores"
    if "__" in module_id:
        return "two underscores follow each other"
    return None


def _shorten(module_id: object) -> str:
    text = repr(module_id)
    return text if len(text) <= 80 else f"{text[:77]}..."
