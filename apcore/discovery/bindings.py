"""Existing functions as modules, without a change of their code (§5.12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from apcore.discovery.binding_files import BindingFile, Item, binding_files_in, read_binding_file
from apcore.discovery.found import FoundModule, the_one
from apcore.discovery.open_functions import open_schema
from apcore.discovery.settings import BINDING_PATTERN, StrPath
from apcore.discovery.targets import resolve_target, target_anew
from apcore.errors import (
    BindingFileInvalidError,
    BindingSchemaInferenceFailedError,
    FuncMissingReturnTypeError,
    FuncMissingTypeHintError,
    InvalidInputError,
    ModuleError,
)
from apcore.modules import FunctionModule, merge_annotations
from apcore.schema import FunctionSchema, generate_schema_from_function, read_docstring, read_schema_file, resolve_ref

_SCHEMAS: Final = ("input_schema", "output_schema")
_CARRIED: Final = ("description", "documentation", "annotations", "tags", "version", "metadata")


class Admitting(Protocol):
    """What bindings need of a registry: admit all of these modules, or none."""

    def register_found(self, found: Iterable[FoundModule], displays: Mapping[str, Item] = ...) -> list[str]: ...


class BindingLoader:
    """Registers the modules of binding files (§5.12).

    An item with `display` and without `target_id` registers nothing; it says how a registered module is presented.
    """

    def load_bindings(self, file: StrPath, registry: Admitting) -> list[FunctionModule]:
        """Register the modules of one file, all or none, and return them.

        Raises BindingFileInvalidError, InvalidModuleIdError, the errors of `resolve_target`,
        BindingSchemaInferenceFailedError, SchemaParseError, SchemaNotFoundError (a `schema_ref` without its file),
        SchemaValidationError (an alias that no tool can have) and InvalidInputError (the ID exists already).
        """
        return self._load([read_binding_file(file)], registry)

    def load_binding_dir(
        self,
        dir: StrPath,  # noqa: A002 - the public name
        registry: Admitting,
        pattern: str = BINDING_PATTERN,
    ) -> list[FunctionModule]:
        """Register the modules of all files of a directory, all or none; raises as `load_bindings`."""
        return self._load([read_binding_file(each) for each in binding_files_in(dir, pattern)], registry)

    def _load(self, files: list[BindingFile], registry: Admitting) -> list[FunctionModule]:
        found = [each for file in files for each in bound_modules(file)]
        displays = {module_id: item for file in files for module_id, item in file.displayed.items()}
        registry.register_found(found, displays)
        return [each.module for each in found]


def bound_modules(file: BindingFile) -> list[FoundModule]:
    """The modules that a binding file makes, in its order; raises as `BindingLoader.load_bindings`."""
    return [_bound(item, file.file) for item in file.bound]


@dataclass(frozen=True, slots=True)
class BindingPlace:
    """A binding file, an item of which makes the module."""

    file: str

    def find_again(self, module_id: str) -> FoundModule:
        """As `Place.find_again`, the file of the target included; raises as `load_bindings` and `target_anew`."""
        file = read_binding_file(self.file)
        items = [each for each in file.bound if each["module_id"] == module_id]
        return the_one(module_id, (_bound_anew(each, file.file) for each in items), self.file)


def _bound_anew(item: Item, file: Path) -> FoundModule:
    with target_anew(item["target_id"]):
        return _bound(item, file)


def _bound(item: Item, file: Path) -> FoundModule:
    try:
        return FoundModule(
            item["module_id"], _module(item, file), str(file), declared=item, place=BindingPlace(str(file))
        )
    except ModuleError as error:
        error.add_note(f"In '{file}', item '{item['module_id']}'")
        raise
    except TypeError as error:
        raise BindingFileInvalidError(
            f"'{file}', item '{item['module_id']}': {error}",
            details={"file": str(file), "module_id": item["module_id"]},
            cause=error,
        ) from error


def _module(item: Item, file: Path) -> FunctionModule:
    target = resolve_target(item["target_id"])
    function = target.function if isinstance(target, FunctionModule) else target
    contract = _contract(item, file)
    schemas = {name: contract[name] for name in _SCHEMAS if name in contract}
    schema = _schema_of(function, item, is_complete=len(schemas) == len(_SCHEMAS))
    options = {name: item[name] for name in _CARRIED if name in item}
    if "description" in contract and not read_docstring(function).summary:
        options.setdefault("description", contract["description"])  # after the code, before the mere name (C-67)
    if isinstance(target, FunctionModule):
        options = _said_by_decorator(target) | options
        options["annotations"] = merge_annotations(item.get("annotations"), target.annotations)
    return FunctionModule(function, id=item["module_id"], schema=schema, **options, **schemas)


def _said_by_decorator(target: FunctionModule) -> dict[str, Any]:
    """What a function that is a module already says of itself, approval included, holds for its binding as well."""
    return {name: getattr(target, name) for name in (*_CARRIED, "examples", "effect", "timeout_ms")}


def _contract(item: Item, file: Path) -> dict[str, Any]:
    """The schemas that the item gives or refers to; what it leaves out is inferred."""
    given = {name: item[name] for name in _SCHEMAS if name in item}
    if (item.get("auto_schema") and (given or "schema_ref" in item)) or (given and "schema_ref" in item):
        raise BindingFileInvalidError(
            f"'{file}', item '{item['module_id']}': auto_schema, schema_ref and written schemas exclude each other",
            details={"file": str(file), "module_id": item["module_id"]},
        )
    return _referenced(file.parent / item["schema_ref"]) if "schema_ref" in item else given


def _referenced(path: Path) -> dict[str, Any]:
    """Schemas and description of a file that is named relative to the binding file (§5.12.4)."""
    content = read_schema_file(path)
    found: dict[str, Any] = {name: resolve_ref(f"#/{name}", path, path.parent) for name in _SCHEMAS if name in content}
    if content.get("description"):
        found["description"] = content["description"]
    return found


def _schema_of(function: Callable[..., Any], item: Item, *, is_complete: bool) -> FunctionSchema:
    try:
        return generate_schema_from_function(function)
    except (FuncMissingTypeHintError, FuncMissingReturnTypeError, InvalidInputError) as error:
        if is_complete:
            return open_schema(function)
        raise BindingSchemaInferenceFailedError(
            f"The target '{item['target_id']}' says too little for a schema, and the binding gives none",
            details={"module_id": item["module_id"], "target_id": item["target_id"]},
            cause=error,
        ) from error
