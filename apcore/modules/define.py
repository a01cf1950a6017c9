"""From what an author wrote to a `ModuleDefinition`, or to one clear error (§5.6)."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from apcore.errors import ModuleLoadError, VersionIncompatibleError
from apcore.modules.annotations import ModuleAnnotations, merge_annotations
from apcore.modules.callables import ROUTINES, callable_attribute, given, is_async
from apcore.modules.companion import NO_COMPANION, Companion, Deprecation
from apcore.modules.conventions import CONTEXT_KEYS, misplaced_context_keys
from apcore.modules.definition import EffectKind, Function, ModuleDefinition
from apcore.modules.dependency import read_dependencies
from apcore.modules.deprecated import warn_on_use
from apcore.modules.examples import ModuleExample
from apcore.modules.planned import PlannedModule, planned_execute
from apcore.modules.source import source_hash
from apcore.schema import ModuleSchema, SchemaLoader, pack_schema
from apcore.versions import Version

logger = logging.getLogger("apcore.modules")

MAX_DESCRIPTION = 200
MAX_DOCUMENTATION = 5000
DEFAULT_VERSION = "1.0.0"

# What most modules do not give is one object for all of them.
_NO_ANNOTATIONS: Final = ModuleAnnotations()
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class _Functions(NamedTuple):
    """What a module has that can be called, None where it has nothing of that name; a value is no hook."""

    execute: Function | None
    plan: Function | None
    apply: Function | None
    stream: Function | None
    validate: Function | None
    preflight: Function | None
    preview: Function | None

    @property
    def are_planned(self) -> bool:
        return self.plan is not None and self.apply is not None


_FUNCTIONS: Final = tuple(_Functions.__annotations__)


def define_module(
    module_id: str, module: Any, companion: Companion = NO_COMPANION, schemas: SchemaLoader | None = None
) -> ModuleDefinition:
    """Read a module: a class (it is instantiated), an instance or a function module.

    `companion` is what its metadata file says, `schemas` are the schema files of the project; both may give what the
    code leaves out (C-67). Raises ModuleLoadError naming every part that is missing or wrong, what the loader raises,
    and SchemaParseError for a schema that is none. Texts over the limits of §4.8 and examples that do not fit the
    schema are logged as warnings.
    """
    try:
        instance = _instance(module_id, module)
        functions = _functions(instance)
        schema = _contract(module_id, instance, schemas)
        description = _description(module_id, instance, companion, schema)
        _refuse_missing_parts(module_id, functions, description, schema)
        definition = _definition(module_id, instance, functions, description, schema, companion)
    except (TypeError, ValueError) as error:
        raise ModuleLoadError(f"Module '{module_id}': {error}", module_id=module_id, cause=error) from error
    _warn_about_texts(definition)
    _warn_about_examples(definition)
    _warn_about_metadata(definition)
    return definition


def _definition(
    module_id: str,
    module: Any,
    functions: _Functions,
    description: str,
    schema: ModuleSchema,
    companion: Companion,
) -> ModuleDefinition:
    is_planned = functions.are_planned
    execute = _planned(module) if is_planned else functions.execute
    assert execute is not None, "a missing part"
    annotations = _annotations(given(module, "annotations"))
    if companion.annotations is not None:
        annotations = merge_annotations(companion.annotations, annotations)
    deprecation = companion.deprecation
    return ModuleDefinition(
        module_id=module_id,
        module=module,
        name=_text(module, "name") or type(module).__name__,
        description=description,
        documentation=companion.documentation or _text(module, "documentation"),
        tags=_first(companion.tags, _texts(module, "tags") or ()),
        version=_version(companion.version or _text(module, "version") or schema.version),
        annotations=annotations,
        examples=_examples(_first(companion.examples, given(module, "examples"))),
        metadata=_metadata(given(module, "metadata"), companion),
        declared_inputs=pack_schema(schema.input_schema),
        declared_outputs=pack_schema(schema.output_schema, output=True),
        effect=_effect(module, functions),
        timeout_ms=_timeout(companion.resources.timeout_ms if companion.resources else _own_timeout(module)),
        allowed_callers=_first(companion.allowed_callers, _texts(module, "allowed_callers")),
        dependencies=companion.dependencies or read_dependencies(given(module, "dependencies")),
        requires_approval=annotations.requires_approval,
        source_hash=source_hash(module),
        execute=warn_on_use(execute, module_id, deprecation) if deprecation else execute,
        is_async=is_async(execute),
        stream=_stream(module_id, functions, annotations, deprecation),
        validate=functions.validate,
        preflight=functions.preflight,
        preview=functions.preview,
        plan=functions.plan if is_planned else None,
        apply=functions.apply if is_planned else None,
        error_codes=_error_codes(given(module, "error_schema") or schema.error_schema),
    )


def _instance(module_id: str, module: Any) -> Any:
    if not isinstance(module, type):
        if isinstance(module, ROUTINES):
            raise ModuleLoadError(
                f"Module '{module_id}' is a bare function", module_id=module_id, suggestion="Wrap it: module(function)"
            )
        return module
    try:
        return module()
    except Exception as error:
        raise ModuleLoadError(
            f"Module '{module_id}': {module.__name__}() raised {type(error).__name__}: {error}",
            module_id=module_id,
            cause=error,
        ) from error


def _functions(module: Any) -> _Functions:
    return _Functions(*[each if callable(each := given(module, name)) else None for name in _FUNCTIONS])


def _contract(module_id: str, module: Any, schemas: SchemaLoader | None) -> ModuleSchema:
    native = ModuleSchema(input_schema=given(module, "input_schema"), output_schema=given(module, "output_schema"))
    return native if schemas is None else schemas.select(module_id, native)


def _description(module_id: str, module: Any, companion: Companion, schema: ModuleSchema) -> str:
    description = _text(module, "description") or companion.description or schema.description
    if description:
        return description
    first_line = inspect.cleandoc(type(module).__doc__ or "").partition("\n")[0]
    if first_line:
        logger.warning("Module '%s' has no description; the first line of its docstring serves as one", module_id)
    return first_line


def _refuse_missing_parts(module_id: str, functions: _Functions, description: str, schema: ModuleSchema) -> None:
    parts = {
        "execute": functions.execute is not None or functions.are_planned,
        "description": description,
        "input_schema": schema.input_schema is not None,
        "output_schema": schema.output_schema is not None,
    }
    if not all(parts.values()):
        missing = [name for name, is_there in parts.items() if not is_there]
        raise ModuleLoadError(
            f"Module '{module_id}' has no {', '.join(missing)}", module_id=module_id, details={"missing": missing}
        )


def _stream(
    module_id: str, functions: _Functions, annotations: ModuleAnnotations, deprecation: Deprecation | None
) -> Function | None:
    """The generator of a module that can give its output in parts (§12.2)."""
    stream = functions.stream
    if stream is None:
        return None
    if functions.are_planned:
        raise TypeError("has plan() and apply(), so it runs what was planned; it must not define stream()")
    if not annotations.streaming:
        logger.warning("Module '%s' has stream(), so its annotations should say streaming=True", module_id)
    return warn_on_use(stream, module_id, deprecation) if deprecation else stream


def _planned(module: Any) -> Function:
    own_execute = callable_attribute(type(module), "execute")
    if own_execute not in (None, PlannedModule.execute):
        raise TypeError("has plan() and apply(), so its execute is apply(plan()); it must not define another execute()")
    return planned_execute(module.plan, module.apply)


def _effect(module: Any, functions: _Functions) -> EffectKind:
    declared = given(module, "effect")
    if declared not in (None, "transactional"):
        raise ValueError(f"effect must be 'transactional' or absent, not {declared!r}")
    if declared is not None:
        return "transactional"
    if functions.are_planned:
        return "planned"
    return "none" if functions.preview is None else "declared"


def _error_codes(error_schema: Any) -> Mapping[str, Mapping[str, Any]]:
    """What `error_schema.codes` declares (§8.4)."""
    codes = error_schema.get("codes") if isinstance(error_schema, Mapping) else None
    if not codes:
        return _NOTHING
    if not isinstance(codes, Mapping) or not all(isinstance(each, Mapping) for each in codes.values()):
        raise TypeError("error_schema.codes must map each code to its description and http_status (§8.4)")
    return {str(code): dict(meaning) for code, meaning in codes.items()}


def _annotations(given: Any) -> ModuleAnnotations:
    if given is None:
        return _NO_ANNOTATIONS
    if isinstance(given, ModuleAnnotations):
        return given
    if isinstance(given, Mapping):
        return ModuleAnnotations.from_dict(given)
    raise TypeError(f"annotations must be ModuleAnnotations or a mapping, not {type(given).__name__}")


def _examples(given: Any) -> tuple[ModuleExample, ...]:
    if not given:
        return ()
    examples = tuple(given)
    if not all(isinstance(each, (ModuleExample, Mapping)) for each in examples):
        raise TypeError("examples must be a list of ModuleExample or mappings")
    return tuple(each if isinstance(each, ModuleExample) else ModuleExample.from_dict(each) for each in examples)


def _metadata(given: Any, companion: Companion) -> Mapping[str, Any]:
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"metadata must be a mapping, not {type(given).__name__}")
    deprecation = companion.deprecation
    if not (given or companion.metadata or deprecation):
        return _NOTHING
    return {**(given or {}), **companion.metadata, **(deprecation.to_dict() if deprecation else {})}


def _version(given: str | None) -> str:
    if given is None:
        return DEFAULT_VERSION
    try:
        Version.completed(given)
    except VersionIncompatibleError as error:
        raise ValueError(f"version: {error.message}") from error
    return given


def _own_timeout(module: Any) -> Any:
    return given(module, "timeout_ms")


def _timeout(given: Any) -> int | None:
    if given is None or (isinstance(given, int) and not isinstance(given, bool) and given > 0):
        return given
    raise ValueError(f"timeout_ms must be a positive number of milliseconds, not {given!r}")


def _text(module: Any, name: str) -> str | None:
    value = given(module, name)
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} must be text, not {type(value).__name__}")
    return value or None


def _texts(module: Any, name: str) -> tuple[str, ...] | None:
    values = given(module, name)
    if values is None:
        return None
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"{name} must be a list of texts")
    return tuple(values)


def _first(preferred: Any, other: Any) -> Any:
    return other if preferred is None else preferred


def _warn_about_texts(definition: ModuleDefinition) -> None:
    if len(definition.description) > MAX_DESCRIPTION:
        logger.warning(
            "Module '%s': description exceeds %d chars, consider moving details to 'documentation' field",
            definition.module_id,
            MAX_DESCRIPTION,
        )
    if len(definition.documentation or "") > MAX_DOCUMENTATION:
        logger.warning("Module '%s': documentation exceeds %d chars", definition.module_id, MAX_DOCUMENTATION)


def _warn_about_examples(definition: ModuleDefinition) -> None:
    for example in definition.examples:
        if not definition.input_validator.is_valid(example.inputs):
            logger.warning("Module '%s': inputs of example '%s' do not fit", definition.module_id, example.title)
        if example.output is not None and not definition.output_validator.is_valid(example.output):
            logger.warning("Module '%s': output of example '%s' does not fit", definition.module_id, example.title)


def _warn_about_metadata(definition: ModuleDefinition) -> None:
    misplaced = misplaced_context_keys(definition.metadata)
    if misplaced:
        logger.warning(
            "Module '%s': %s lists %s, which every context has; it is for keys of context.data",
            definition.module_id,
            CONTEXT_KEYS,
            ", ".join(misplaced),
        )
