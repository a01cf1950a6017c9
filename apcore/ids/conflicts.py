"""Whether a new module ID gets in the way of another one (§2.6)."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable
from dataclasses import dataclass
from typing import Literal

from apcore.errors import InvalidInputError, InvalidModuleIdError
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
    reserved = _reserved_segment(new_id.split("."), reserved_words)
    if reserved is not None:
        return IdConflict("reserved_word", "error", _uses_reserved(new_id, reserved))
    lowered = new_id.lower()
    twin = next((each for each in existing_ids if each.lower() == lowered), None)
    if twin is not None:
        return IdConflict("case_collision", "warning", f"Module IDs '{new_id}' and '{twin}' differ only in letter case")
    return None


def refuse_conflicts(module_id: str, existing_ids: Container[str], open_namespaces: Container[str] = ()) -> None:
    """Raises what a conflict means where modules are found and where they are admitted (§2.6).

    ``open_namespaces`` are reserved words that may be the first segment (C-04). Raises ``InvalidInputError``
    (``details["type"]`` is "duplicate_id", C-07) and ``InvalidModuleIdError`` ("reserved_word").
    """
    # The grammar has no capital letters, so the only ID that can collide with this one is itself.
    duplicate = detect_id_conflicts(module_id, {module_id}) if module_id in existing_ids else None
    if duplicate is not None:
        details = {"type": duplicate.type, "module_id": module_id}
        raise InvalidInputError(duplicate.message, module_id=module_id, details=details)
    namespace, *rest = module_id.split(".")
    checked = rest if namespace in open_namespaces else [namespace, *rest]
    reserved = _reserved_segment(checked, RESERVED_WORDS)
    if reserved is not None:
        raise InvalidModuleIdError(
            _uses_reserved(module_id, reserved),
            module_id=module_id,
            details={"type": "reserved_word", "segment": reserved, "module_id": module_id},
        )


def _reserved_segment(segments: Iterable[str], reserved_words: Container[str]) -> str | None:
    for segment in segments:
        if segment in reserved_words:
            return segment
    return None


def _uses_reserved(module_id: str, segment: str) -> str:
    return f"Module ID '{module_id}' uses the reserved word '{segment}'"
