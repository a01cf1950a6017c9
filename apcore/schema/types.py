"""Python types as JSON Schema (§5.11.5).

The types whose JSON value is already the Python value are described at once (`plain_types`). Everything else (models,
dataclasses, dates, enums, constraints) is pydantic's work, which is imported when the first such type is met.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Protocol, cast

from apcore.schema.plain_types import TypeDescription, plain_schema


class Describer(Protocol):
    """What ``apcore.schema.pydantic_types`` offers."""

    def describe(
        self, annotations: Mapping[str, Any], *, output: bool
    ) -> tuple[dict[str, TypeDescription], dict[str, Any]]: ...

    def model_document(self, model: Any, *, output: bool) -> dict[str, Any]: ...

    def to_json(self, value: Any) -> Any: ...


def describe_types(
    annotations: Mapping[str, Any], *, output: bool = False
) -> tuple[dict[str, TypeDescription], dict[str, Any]]:
    """The descriptions by name, and the definitions that their schemas refer to (``{"$defs": …}`` or empty).

    Raises ``SchemaParseError`` for a type that has no JSON form.
    """
    plain = {name: schema for name, each in annotations.items() if (schema := plain_schema(each)) is not None}
    described = {name: TypeDescription(schema) for name, schema in plain.items()}
    rest = {name: each for name, each in annotations.items() if name not in plain}
    if not rest:
        return described, {}
    others, definitions = pydantic_types().describe(rest, output=output)
    return {name: (described | others)[name] for name in annotations}, definitions


# The one place where a module is imported by name: most functions need no pydantic, and it is slow to load.
def pydantic_types() -> Describer:
    """The half of this room that needs pydantic."""
    return cast(Describer, importlib.import_module("apcore.schema.pydantic_types"))
