"""Whether a new module ID gets in the way of another one (§2.6)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from apcore.ids.grammar import RESERVED_WORDS


@dataclass(frozen=True, slots=True)
class IdConflict:
    """Why an ID cannot be taken (``error``) or is risky on other platforms (``warning``)."""

    type: Literal["duplicate_id", "reserved_word", "case_collision"]
    severity: Literal["error", "warning"]
    message: str


def detect_id_conflicts(
    new_id: str, existing_ids: Collection[str], reserved_words: Collection[str] = RESERVED_WORDS
) -> IdConflict | None:
    """The first conflict of ``new_id``, in the order duplicate, reserved word, letter case; None if there is none."""
    if new_id in existing_ids:
        return IdConflict("duplicate_id", "error", f"Module ID '{new_id}' exists already")
    reserved = next((segment for segment in new_id.split(".") if segment in reserved_words), None)
    if reserved is not None:
        return IdConflict("reserved_word", "error", f"Module ID '{new_id}' uses the reserved word '{reserved}'")
    lowered = new_id.lower()
    twin = next((each for each in existing_ids if each.lower() == lowered), None)
    if twin is not None:
        return IdConflict("case_collision", "warning", f"Module IDs '{new_id}' and '{twin}' differ only in letter case")
    return None
