"""Reading the YAML files beside modules, with errors that name the file and the place in it."""

from __future__ import annotations

import logging
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any

from apcore.errors import ModuleError, SchemaNotFoundError, SchemaParseError, SchemaValidationError
from apcore.schema import compile_schema, read_schema_file

logger = logging.getLogger("apcore.discovery")


def read_yaml(
    path: Path, schema: Mapping[str, Any], error_type: type[ModuleError], *, never_null: Container[str] = ()
) -> dict[str, Any]:
    """The content of a file that fits `schema`; raises `error_type` otherwise.

    A key without a value says nothing; for those that are `never_null` it is an error.
    """
    details = {"file": str(path)}
    try:
        content = _without_nulls(read_schema_file(path), never_null)
        compile_schema(schema).validate(content)
    except SchemaNotFoundError as error:
        raise error_type(f"'{path}' does not exist", details=details, cause=error) from error
    except SchemaParseError as error:
        raise error_type(f"'{path}' cannot be read: {error.message}", details=details, cause=error) from error
    except SchemaValidationError as error:
        faults = "; ".join(f"{each['path'] or '/'}: {each['message']}" for each in error.errors)
        raise error_type(
            f"'{path}' is wrong at {faults}", details={**details, "errors": error.errors}, cause=error
        ) from error
    return content


def _without_nulls(content: dict[str, Any], never_null: Container[str]) -> dict[str, Any]:
    """At the top, and in the items of lists there."""
    return {
        key: [_item_without_nulls(each) for each in value] if isinstance(value, list) else value
        for key, value in content.items()
        if value is not None or key in never_null
    }


def _item_without_nulls(item: Any) -> Any:
    return {key: value for key, value in item.items() if value is not None} if isinstance(item, dict) else item


def warn_about_unknown_keys(given: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> None:
    """A mistyped key would otherwise be dropped without a word; keys that start with `x-` are free."""
    unknown = sorted(_unknown_keys(given, schema))
    if unknown:
        logger.warning("%s: unknown keys are ignored: %s", where, ", ".join(unknown))


def _unknown_keys(given: Mapping[str, Any], schema: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for key, value in given.items():
        known = schema["properties"].get(key)
        if known is None and not key.startswith("x-"):
            yield f"{above}{key}"
        elif isinstance(value, Mapping) and known is not None and "properties" in known:
            yield from _unknown_keys(value, known, f"{above}{key}.")
