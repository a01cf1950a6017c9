"""Error codes that modules bring along: their form, and that no two collide (§8.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from apcore.errors.codes import RENAMED_CODES, RESERVED_CODE_PREFIXES
from apcore.errors.general import ErrorCodeCollisionError


def error_code_prefix(module_id: str) -> str:
    """The prefix of a module's own codes: ``executor.validator.db_params`` gives ``DB_PARAMS``."""
    return module_id.rpartition(".")[2].upper()


def detect_error_code_collisions(
    framework_codes: Iterable[str], module_codes_map: Mapping[str, Iterable[str]]
) -> set[str]:
    """The set of all codes, of the framework and of every module.

    Raises ``ErrorCodeCollisionError`` for a code that two modules declare, or that belongs to the framework: one of
    ``framework_codes``, one that the framework used before, or any that starts with MODULE_, SCHEMA_, ACL_ or GENERAL_
    (§8.4).
    """
    reserved = frozenset(framework_codes)
    owners: dict[str, str] = {}
    for module_id, codes in module_codes_map.items():
        for code in codes:
            if code in reserved or code in RENAMED_CODES or code.startswith(RESERVED_CODE_PREFIXES):
                raise _collision(code, module_id, "the framework")
            if code in owners:
                raise _collision(code, module_id, f"module '{owners[code]}'")
            owners[code] = module_id
    return {*reserved, *owners}


def _collision(code: str, module_id: str, owner: str) -> ErrorCodeCollisionError:
    return ErrorCodeCollisionError(
        f"Error code '{code}' of module '{module_id}' belongs to {owner}",
        details={"error_code": code, "module_id": module_id, "owner": owner},
        suggestion=f"Name it {error_code_prefix(module_id)}_<WHAT_WENT_WRONG>",
    )
