"""The regular expressions of schemas, by the engine of the fast validator.

Python's own takes exponential time for some of them, holding up the whole process, and reads another dialect.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import jsonschema_rs

_CACHED_PATTERNS: Final = 2048


def matches(pattern: str, text: object) -> bool:
    """Whether the pattern is somewhere in the text; what is no text has no match. Raises ValueError for no pattern."""
    return isinstance(text, str) and _matcher(pattern)(text)


# A cache of immutable values by their content.
@lru_cache(maxsize=_CACHED_PATTERNS)
def _matcher(pattern: str) -> Callable[[Any], bool]:
    return jsonschema_rs.Draft202012Validator({"pattern": pattern}).is_valid
