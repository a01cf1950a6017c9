"""Errors about schemas and the values that they describe (§8.2 SCHEMA_*, §4.14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from apcore.errors.base import ModuleError
from apcore.errors.codes import ErrorCodes


class SchemaNotFoundError(ModuleError):
    """A schema, or the target of a reference, does not exist."""

    code = ErrorCodes.SCHEMA_NOT_FOUND
    http_status = 404
    retryable = False
    default_message = "Schema not found"


class SchemaValidationError(ModuleError):
    """A value does not fit its schema.

    ``errors`` has one mapping per violation: ``path`` (JSON Pointer) and ``message``, and where they are known
    ``constraint``, ``expected`` and ``actual`` (§4.14).
    """

    code = ErrorCodes.SCHEMA_VALIDATION_ERROR
    http_status = 400
    retryable = False
    default_message = "The value does not fit its schema"

    def __init__(self, message: str = "", *, errors: Sequence[Mapping[str, Any]] = (), **fields: Any) -> None:
        super().__init__(message, **fields)
        self.errors = [dict(error) for error in errors]

    def own_fields(self) -> dict[str, Any]:
        return super().own_fields() | {"errors": self.errors}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        error = super().from_dict(data)
        errors = data.get("errors")
        error.errors = [dict(each) for each in errors if isinstance(each, Mapping)] if isinstance(errors, list) else []
        return error


class SchemaParseError(ModuleError):
    """A schema cannot be read or is not a schema."""

    code = ErrorCodes.SCHEMA_PARSE_ERROR
    http_status = 500
    retryable = False
    default_message = "Schema cannot be parsed"


class SchemaCircularRefError(ModuleError):
    """References of a schema form a circle or go too deep."""

    code = ErrorCodes.SCHEMA_CIRCULAR_REF
    http_status = 500
    retryable = False
    default_message = "Circular schema reference"
