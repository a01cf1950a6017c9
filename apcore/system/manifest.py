"""What there is: `system.manifest.module` and `system.manifest.full` (§6.7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from apcore.context import Context
from apcore.ids import is_system_module
from apcore.modules import ModuleDefinition, describe, source_file
from apcore.system.base import COUNT, MODULE_ID, READ, closed
from apcore.system.ports import SystemApp

_OPEN: Final = {"type": "object"}
_TEXT_OR_NULL: Final = {"type": ["string", "null"]}
_DEPENDENCY: Final = closed({"module_id": MODULE_ID, "version": _TEXT_OR_NULL, "optional": {"type": "boolean"}})
_ENTRY: Final = {
    "module_id": MODULE_ID,
    "name": {"type": "string"},
    "description": {"type": "string"},
    "version": {"type": "string"},
    "enabled": {"type": "boolean"},
    "is_system": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "annotations": _OPEN,
    "effect": {"enum": ["transactional", "planned", "declared", "none"]},
    "dependencies": {"type": "array", "items": _DEPENDENCY},
    "metadata": _OPEN,
    "source_path": _TEXT_OR_NULL,
    "input_schema": _OPEN,
    "output_schema": _OPEN,
}


class ManifestModule:
    """`system.manifest.module`."""

    description = "Everything about one module: schemas, annotations, tags, dependencies, documentation, source file"
    tags = ("system", "manifest")
    annotations = READ
    input_schema = closed({"module_id": MODULE_ID})
    output_schema = closed(
        {
            **_ENTRY,
            "documentation": _TEXT_OR_NULL,
            "examples": {"type": "array", "items": _OPEN},
            "content_hash": {"type": "string"},
        }
    )

    def __init__(self, app: SystemApp) -> None:
        self._app = app

    def execute(self, inputs: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The manifest. Raises ModuleNotFoundError."""
        definition = self._app.registry.get_definition(inputs["module_id"])
        described = describe(definition).to_dict()
        return {
            **_entry(self._app, definition, with_schemas=True, with_source=True),
            "documentation": described["documentation"],
            "examples": described["examples"],
            "content_hash": definition.content_hash,
        }


class ManifestFull:
    """`system.manifest.full`."""

    description = "What all modules take, give and say about themselves; their documentation is read one by one"
    tags = ("system", "manifest")
    annotations = READ
    input_schema = closed(
        {
            "prefix": {"type": "string", "default": "", "description": "Only modules whose ID begins with this"},
            "tags": {
                "type": "array",
                "items": {"type": "string"},
                "default": [],
                "description": "Only modules that have all of these tags",
            },
            "include_schemas": {"type": "boolean", "default": True},
            "include_source_paths": {"type": "boolean", "default": True},
        },
        "prefix",
        "tags",
        "include_schemas",
        "include_source_paths",
    )
    output_schema = closed(
        {
            "module_count": COUNT,
            "modules": {
                "type": "array",
                "items": closed(_ENTRY, "source_path", "input_schema", "output_schema"),
            },
        }
    )

    def __init__(self, app: SystemApp) -> None:
        self._app = app

    def execute(self, inputs: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The manifests of all discoverable modules that fit, by ID."""
        registry = self._app.registry
        modules = [
            _entry(
                self._app,
                registry.get_definition(module_id),
                with_schemas=inputs["include_schemas"],
                with_source=inputs["include_source_paths"],
            )
            for module_id in registry.list(prefix=inputs["prefix"], tags=inputs["tags"])
        ]
        return {"module_count": len(modules), "modules": modules}


def _entry(app: SystemApp, definition: ModuleDefinition, *, with_schemas: bool, with_source: bool) -> dict[str, Any]:
    described = describe(definition).to_dict()
    names = ("module_id", "name", "description", "version", "tags", "annotations", "metadata")
    entry = {name: described[name] for name in names}
    entry |= {
        "enabled": app.toggles.is_enabled(definition.module_id),
        "is_system": is_system_module(definition.module_id),
        "effect": definition.effect,
        "dependencies": [
            {"module_id": each.module_id, "version": each.version, "optional": each.optional}
            for each in definition.dependencies
        ],
    }
    if with_source:
        entry["source_path"] = app.registry.file_of(definition.module_id) or source_file(definition.module)
    if with_schemas:
        entry |= {name: described[name] for name in ("input_schema", "output_schema")}
    return entry
