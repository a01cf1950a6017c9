"""The one canonical JSON of the project: equal values give equal text, and so equal hashes."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(value: Any) -> str:
    """The value as compact JSON with sorted keys, in Unicode.

    Raises ``TypeError`` for what JSON cannot express and ``ValueError`` for NaN, infinities and circular structures.
    """
    return _ENCODER.encode(value)


def content_hash(value: Any) -> str:
    """SHA-256 of the canonical JSON, in hexadecimal; raises as ``canonical_json``."""
    return text_hash(canonical_json(value))


def text_hash(text: str) -> str:
    """SHA-256 of a text in UTF-8, in hexadecimal."""
    # JSON texts may hold lone surrogates ("\ud800"), which plain UTF-8 refuses
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
