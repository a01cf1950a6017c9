"""The only way into a registry (§2.5, §2.6, §5.6)."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any, Final

from apcore.errors import InvalidInputError, InvalidModuleIdError
from apcore.ids import RESERVED_WORDS, detect_id_conflicts, validate_canonical_id
from apcore.modules import ModuleDefinition, define_module
from apcore.registry.lifecycle import load

logger = logging.getLogger("apcore.registry")

EPHEMERAL: Final = "ephemeral"
_USER_NAMESPACES: Final = frozenset({EPHEMERAL})
_INTERNAL_NAMESPACES: Final = frozenset({"system", "internal"})


def admit(module_id: str, module: Any, existing_ids: Collection[str], *, internal: bool = False) -> ModuleDefinition:
    """Check the ID, read the module, and run its `on_load()`; what comes back may be published.

    `internal` opens the namespaces `system` and `internal` and closes `ephemeral` (§2.5).

    Raises InvalidModuleIdError (grammar; `details.type` "reserved_word"), InvalidInputError (`details.type`
    "duplicate_id"), ModuleLoadError (incomplete module, failing hook) and SchemaParseError.
    """
    validate_canonical_id(module_id)
    _refuse_duplicate(module_id, existing_ids)
    _refuse_reserved_words(module_id, _INTERNAL_NAMESPACES if internal else _USER_NAMESPACES)
    definition = define_module(module_id, module)
    if module_id.startswith(f"{EPHEMERAL}.") and definition.annotations.discoverable:
        logger.warning("Module '%s' is ephemeral and should set discoverable: false", module_id)
    load(definition)
    return definition


def _refuse_duplicate(module_id: str, existing_ids: Collection[str]) -> None:
    # The grammar has no capital letters, so the only ID that can collide with this one is itself.
    taken = {module_id} if module_id in existing_ids else ()
    conflict = detect_id_conflicts(module_id, taken, reserved_words=())
    if conflict is not None:
        raise InvalidInputError(
            conflict.message, module_id=module_id, details={"type": conflict.type, "module_id": module_id}
        )


def _refuse_reserved_words(module_id: str, open_namespaces: Collection[str]) -> None:
    namespace, *rest = module_id.split(".")
    checked = rest if namespace in open_namespaces else [namespace, *rest]
    reserved = next((segment for segment in checked if segment in RESERVED_WORDS), None)
    if reserved is not None:
        raise InvalidModuleIdError(
            f"Module ID '{module_id}' uses the reserved word '{reserved}'",
            module_id=module_id,
            details={"type": "reserved_word", "segment": reserved, "module_id": module_id},
        )
