"""The only way into a registry (§2.5, §2.6, §5.6)."""

from __future__ import annotations

import logging
from collections.abc import Container
from typing import Any, Final

from apcore.ids import refuse_conflicts, validate_canonical_id
from apcore.modules import NO_COMPANION, Companion, ModuleDefinition, define_module
from apcore.schema import SchemaLoader

logger = logging.getLogger("apcore.registry")

EPHEMERAL: Final = "ephemeral"
_USER_NAMESPACES: Final = frozenset({EPHEMERAL})
_INTERNAL_NAMESPACES: Final = frozenset({"system", "internal"})


def admit(
    module_id: str,
    module: Any,
    existing_ids: Container[str],
    *,
    internal: bool = False,
    companion: Companion = NO_COMPANION,
    schemas: SchemaLoader | None = None,
) -> ModuleDefinition:
    """Check the ID, and read the module; after its `on_load()` the result may be published.

    `internal` opens the namespaces `system` and `internal` and closes `ephemeral` (§2.5). `companion` and `schemas` are
    what the files beside the module say.

    Raises InvalidModuleIdError (grammar; `details.type` "reserved_word"), InvalidInputError (`details.type`
    "duplicate_id"), ModuleLoadError (incomplete module) and SchemaParseError.
    """
    refuse_id(module_id, existing_ids, internal=internal)
    definition = define_module(module_id, module, companion, schemas)
    if module_id.startswith(f"{EPHEMERAL}.") and definition.annotations.discoverable:
        logger.warning("Module '%s' is ephemeral and should set discoverable: false", module_id)
    return definition


def refuse_id(module_id: str, existing_ids: Container[str], *, internal: bool = False) -> None:
    """Raises what `admit()` raises for an ID."""
    validate_canonical_id(module_id)
    refuse_conflicts(module_id, existing_ids, _INTERNAL_NAMESPACES if internal else _USER_NAMESPACES)
