"""Taking up what a module's file holds now: `system.control.reload_module` (§6.7, §12.7.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from time import perf_counter
from typing import Any, Final

from apcore.context import Context
from apcore.errors import InvalidInputError, ModuleError, ModuleNotFoundError
from apcore.events import core_event
from apcore.modules import Change, ModuleDefinition, PreviewResult
from apcore.registry import Registry, resolve_dependencies
from apcore.system.base import MODULE_ID, REASON, WRITE, closed, either
from apcore.system.ports import Controls, SystemApp

_RELOADED: Final = closed(
    {"module_id": MODULE_ID, "previous_version": {"type": "string"}, "new_version": {"type": "string"}}
)


class ReloadModule:
    """`system.control.reload_module`."""

    description = "Import the file of a module anew, or the files of all modules that a glob means"
    tags = ("system", "control")
    annotations = WRITE
    input_schema = either(
        closed(
            {
                "module_id": MODULE_ID,
                "path_filter": {
                    "type": "string",
                    "minLength": 1,
                    "description": "A glob over module IDs and paths of files: billing.*, */billing/*.py",
                },
                "cascade": {
                    "type": "boolean",
                    "default": False,
                    "description": "Whether modules that depend on a reloaded one are reloaded after it",
                },
                "reason": REASON,
            },
            "module_id",
            "path_filter",
            "cascade",
            "reason",
        ),
        "module_id",
        "path_filter",
    )
    output_schema = closed(
        {
            "success": {"const": True},
            "module_id": MODULE_ID,
            "previous_version": {"type": "string"},
            "new_version": {"type": "string"},
            "reloaded_modules": {"type": "array", "items": _RELOADED},
            "reload_duration_ms": {"type": "number", "minimum": 0},
        },
        "module_id",
        "previous_version",
        "new_version",
    )

    def __init__(self, app: SystemApp, controls: Controls) -> None:
        self._app = app
        self._controls = controls

    def execute(self, inputs: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """Reload in the order of dependencies, and tell of each.

        Raises ModuleNotFoundError where nothing fits, and ReloadFailedError at the first module that fails: its old
        version stays, `details["reloaded"]` are those that were done before it.
        """
        begin = perf_counter()
        done: list[dict[str, Any]] = []
        for module_id in self._wanted(inputs, context):
            try:
                done.append(self._reload(module_id, context))
            except ModuleError as error:
                error.details["reloaded"] = [each["module_id"] for each in done]
                raise
        output = {"success": True, "reloaded_modules": done, "reload_duration_ms": (perf_counter() - begin) * 1000}
        named = next((each for each in done if each["module_id"] == inputs.get("module_id")), {})
        return {**output, **named}

    def preview(self, inputs: Mapping[str, Any], context: Context) -> PreviewResult:
        """Which files would be imported anew. What they hold, nobody knows before."""
        registry = self._app.registry
        return PreviewResult(
            [
                Change(
                    "reload",
                    f"module:{module_id}",
                    f"Reload module {module_id} from its file",
                    before={"version": registry.get_definition(module_id).version, "file": registry.file_of(module_id)},
                )
                for module_id in self._wanted(inputs, context)
            ]
        )

    def _reload(self, module_id: str, context: Context) -> dict[str, Any]:
        previous = self._app.registry.get_definition(module_id).version
        definition = self._app.registry.reload(module_id)
        if not self._controls.are_durable:
            self._app.toggles.set(module_id, True)  # what nobody keeps falls back to what was registered (§6.7)
        told = {"module_id": module_id, "previous_version": previous, "new_version": definition.version}
        self._app.events.emit(core_event("apcore.module.reloaded", told, trace_id=context.trace_id))
        return told

    def _wanted(self, inputs: Mapping[str, Any], context: Context) -> list[str]:
        """The IDs that are meant, those first that others depend on."""
        registry = self._app.registry
        if "module_id" in inputs:
            wanted = {registry.get_definition(inputs["module_id"]).module_id}
        else:
            wanted = set(_fitting(registry, inputs["path_filter"]))
        if inputs.get("cascade"):
            wanted |= _dependents(registry, wanted)
        running = sorted(wanted.intersection(context.call_chain))
        if running:
            raise InvalidInputError(
                f"Module '{running[0]}' is in this call's own chain, so it cannot be reloaded by it",
                module_id=running[0],
            )
        definitions = [registry.get_definition(module_id) for module_id in sorted(wanted)]
        return resolve_dependencies(definitions, available=_versions(registry))


def _fitting(registry: Registry, path_filter: str) -> Iterable[str]:
    """The modules that have a file, and whose ID or file fits. Raises ModuleNotFoundError if there is none."""
    files = {module_id: registry.file_of(module_id) for module_id in registry.list(include_hidden=True)}
    found = [
        module_id
        for module_id, file in files.items()
        if file is not None and (fnmatchcase(module_id, path_filter) or fnmatchcase(file, path_filter))
    ]
    if not found:
        raise ModuleNotFoundError(
            f"No module that was discovered in a file fits '{path_filter}'", details={"path_filter": path_filter}
        )
    return found


def _dependents(registry: Registry, wanted: Iterable[str]) -> set[str]:
    """Everything that depends on one of these, directly or not, and has a file to be reloaded from."""
    found, waiting = set[str](), list(wanted)
    definitions = [registry.get_definition(module_id) for module_id in registry.list(include_hidden=True)]
    while waiting:
        needed = waiting.pop()
        for each in definitions:
            if each.module_id not in found and _needs(each, needed) and registry.file_of(each.module_id):
                found.add(each.module_id)
                waiting.append(each.module_id)
    return found


def _needs(definition: ModuleDefinition, module_id: str) -> bool:
    return any(each.module_id == module_id for each in definition.dependencies)


def _versions(registry: Registry) -> dict[str, str]:
    return {each: registry.get_definition(each).version for each in registry.list(include_hidden=True)}
