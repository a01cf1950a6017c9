"""The types that pydantic describes and converts: models, dataclasses, dates, enums, constraints.

Loaded by ``apcore.schema.types`` when the first such type is met, and by nobody else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, get_args

import annotated_types
from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUndefinedAnnotation
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import PydanticSerializationError, core_schema, to_jsonable_python

from apcore.errors import ModuleExecuteError, SchemaParseError, SchemaValidationError
from apcore.schema.plain_types import UNRESOLVED, TypeDescription, is_annotated, plain_schema
from apcore.schema.refs import pointer_to
from apcore.schema.sensitive import mentions_mark
from apcore.schema.typed_dicts import readable

# Metadata that JSON Schema expresses completely: a value that fits the schema needs no second look.
_CONSTRAINTS: Final = (
    annotated_types.Ge,
    annotated_types.Gt,
    annotated_types.Le,
    annotated_types.Lt,
    annotated_types.MaxLen,
    annotated_types.MinLen,
    annotated_types.MultipleOf,
)


class _Generator(GenerateJsonSchema):
    """Schemas in the shape of §5.11.5: ``nullable`` for optional values, ``enum`` for every choice, and no titles made
    from the names of fields and enums.
    """

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        inner = self.generate_inner(schema["schema"])
        return inner if inner.get("type") == "null" else {**inner, "nullable": True}

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        described = super().literal_schema(schema)
        if "const" in described:
            described["enum"] = [described.pop("const")]
        return described

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        described = super().tagged_union_schema(schema)
        described.pop("discriminator", None)  # a word of OpenAPI, whose references would lead nowhere after inlining
        return described

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        described = super().generate_inner(schema)
        if schema["type"] == "enum":
            # the title is added by a function that the enum's own schema carries
            target = self.get_schema_from_definitions(described["$ref"]) if "$ref" in described else described
            if target is not None and target.get("title") == schema["cls"].__name__:
                del target["title"]
        return described

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def describe(annotations: Mapping[str, Any], *, output: bool) -> tuple[dict[str, TypeDescription], dict[str, Any]]:
    """As ``apcore.schema.types.describe_types``, for any type that pydantic knows."""
    mode: JsonSchemaMode = "serialization" if output else "validation"
    adapters = {name: _adapter(name, annotation) for name, annotation in annotations.items()}
    try:
        schemas, shared = TypeAdapter.json_schemas(
            [(name, mode, adapter) for name, adapter in adapters.items()], schema_generator=_Generator
        )
    except PydanticInvalidForJsonSchema as error:
        raise SchemaParseError(f"A type has no JSON Schema: {error.message}") from error
    except PydanticUserError as error:
        reason = error.message.splitlines()[0]
        details = {UNRESOLVED: reason} if error.code == "class-not-fully-defined" else {}
        raise SchemaParseError(f"A type has no JSON Schema: {reason}", details=details) from error
    descriptions = {
        name: TypeDescription(
            schemas[name, mode],
            load=None
            if _is_constraint_on_plain(annotation)
            else _loader(adapters[name], secret=mentions_mark(schemas[name, mode]) or mentions_mark(shared)),
            dump=None if _is_constraint_on_plain(annotation) else _dumper(adapters[name]),
        )
        for name, annotation in annotations.items()
    }
    return descriptions, shared


def model_document(model: Any, *, output: bool) -> dict[str, Any]:
    """What a model class says of itself, in the same shape; its own ``model_json_schema`` is heard."""
    document: dict[str, Any] = model.model_json_schema(
        mode="serialization" if output else "validation", schema_generator=_Generator
    )
    return document


def to_json(value: Any) -> Any:
    """The value as JSON data; raises ``SchemaParseError`` if it has no such form."""
    try:
        data = to_jsonable_python(value)
        json.dumps(data, allow_nan=False)
        return data
    except (PydanticSerializationError, ValueError) as error:
        raise SchemaParseError(f"A default of type {type(value).__name__} has no JSON form") from error


def _adapter(name: str, annotation: Any) -> TypeAdapter[Any]:
    try:
        # only classes: an equal annotation need not be the same (Literal[1] equals Literal[True])
        return _adapter_of_class(annotation) if isinstance(annotation, type) else TypeAdapter(readable(annotation))
    except (PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError) as error:
        reason = error.message.splitlines()[0]
        details = {"name": name} | ({UNRESOLVED: reason} if isinstance(error, PydanticUndefinedAnnotation) else {})
        raise SchemaParseError(f"The type of '{name}' has no JSON Schema: {reason}", details=details) from error


# Adapters are immutable, and thousands of functions may share a few models.
@lru_cache(maxsize=512)
def _adapter_of_class(annotation: type) -> TypeAdapter[Any]:
    return TypeAdapter(readable(annotation))


def _is_constraint_on_plain(annotation: Any) -> bool:
    if not is_annotated(annotation):
        return False
    base, *metadata = get_args(annotation)
    return plain_schema(base) is not None and all(_is_constraint(each) for each in metadata)


def _is_constraint(metadata: Any) -> bool:
    if isinstance(metadata, FieldInfo):
        return all(_is_constraint(each) for each in metadata.metadata)
    if isinstance(metadata, (str, *_CONSTRAINTS)):
        return True
    # pydantic's own class for Field(pattern=…) is private; its content tells what it is
    return set(getattr(metadata, "__dict__", {"?": None})) <= {"pattern"}


def _loader(adapter: TypeAdapter[Any], *, secret: bool) -> Callable[[str, Any], Any]:
    def load(name: str, value: Any) -> Any:
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            raise _refusal(name, error, secret=secret) from (None if secret else error)

    return load


def _dumper(adapter: TypeAdapter[Any]) -> Callable[[Any], Any]:
    def dump(value: Any) -> Any:
        try:
            return adapter.dump_python(value, mode="json", by_alias=True, warnings=False)
        except PydanticSerializationError as error:
            raise ModuleExecuteError(f"Return value cannot be expressed in JSON ({type(value).__name__})") from error

    return dump


def _refusal(name: str, error: ValidationError, *, secret: bool) -> SchemaValidationError:
    """The refusal in pydantic's words, or in none where something is sensitive: a validator may quote the value."""
    violations = [
        {
            "path": pointer_to([name, *each["loc"]]),
            "message": "is not valid" if secret else each["msg"],
            "constraint": each["type"],
        }
        for each in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    return SchemaValidationError(
        f"{violations[0]['path']} {violations[0]['message']}", errors=violations, user_fixable=True
    )
