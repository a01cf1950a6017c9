"""The digest of an effect: SHA-256 over its meaning, whatever order it was found in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Final

from apcore.modules.change import UNSET, Change, Unset
from apcore.schema.canonical import canonical_json

_VERSION = 1
_LASTING: Final = frozenset({str, bool, type(None), Unset})
_LARGEST: Final = 2**63


def is_settled(change: Change) -> bool:
    """Whether the digest of a change can wait: nothing that it covers can change, and all of it is JSON."""
    before, after, extras = change.before, change.after, change.extras
    return (
        (type(before) in _LASTING or _is_short(before))
        and (type(after) in _LASTING or _is_short(after))
        and (not extras or type(extras.get("x-alias")) in _LASTING)
    )


def _is_short(number: Any) -> bool:
    """Not every number is JSON: some are infinite, and some have more digits than Python writes."""
    return type(number) is int and -_LARGEST < number < _LARGEST


def change_digest(change: Change) -> bytes:
    """SHA-256 (32 bytes) of what a change means: action, target, before, after and the database it is in.

    The summary and the display extras are wording, not meaning, and stay out.
    """
    meaning = {"action": change.action, "target": change.target}
    if change.before is not UNSET:
        meaning["before"] = change.before
    if change.after is not UNSET:
        meaning["after"] = change.after
    if "x-alias" in change.extras:
        meaning["alias"] = change.extras["x-alias"]
    return hashlib.sha256(_canonical_bytes(meaning)).digest()


def effect_digest(provenance: str, gaps: Iterable[str], change_digests: Iterable[bytes]) -> str:
    """SHA-256 in hex over the provenance, the known gaps and the sorted digests of all changes.

    Sorting makes the digest independent of the order in which changes were found; taking digests instead of changes
    lets a caller stream millions of changes at 32 bytes each.
    """
    hasher = hashlib.sha256(_canonical_bytes([_VERSION, provenance, sorted(gaps)]))
    for digest in sorted(change_digests):
        hasher.update(digest)
    return hasher.hexdigest()


def _canonical_bytes(value: Any) -> bytes:
    # JSON texts may hold lone surrogates, which plain UTF-8 refuses
    return canonical_json(value).encode("utf-8", "surrogatepass")
