"""What the endpoints accept as request bodies: JSON Schemas, which also stand in the OpenAPI document."""

from typing import Any, Final

from rest_framework.request import Request

from apcore.errors import InvalidInputError
from apcore.schema import compile_schema

_REASON: Final = {"type": "string", "maxLength": 10_000}
_DIGEST: Final = {
    "type": "string",
    "pattern": "^[0-9a-f]{64}$",
    "description": "The digest of the effect that was looked at, from `preview.digest`.",
}

CALL: Final = {
    "type": "object",
    "required": ["inputs"],
    "properties": {"inputs": {"type": "object", "description": "The inputs of the module, by its `input_schema`."}},
    "additionalProperties": False,
}
APPROVE: Final = {
    "type": "object",
    "required": ["seen_digest"],
    "properties": {
        "seen_digest": _DIGEST,
        "reason": _REASON,
        "confirmed": {
            "type": "boolean",
            "description": "Acknowledges an effect that deletes, cannot be previewed, or is not completely known.",
        },
    },
    "additionalProperties": False,
}
REJECT: Final = {
    "type": "object",
    "required": ["reason"],
    "properties": {"reason": {**_REASON, "minLength": 1}, "seen_digest": _DIGEST},
    "additionalProperties": False,
}
CANCEL: Final = {"type": "object", "properties": {"reason": _REASON}, "additionalProperties": False}
EMPTY: Final = {"type": "object", "properties": {}, "additionalProperties": False}


def read_body(request: Request, schema: dict[str, Any]) -> dict[str, Any]:
    """The body of a request, valid by `schema`; no body is an empty object.

    Raises SchemaValidationError, and InvalidInputError for what is no object.
    """
    body = request.data
    if not isinstance(body, dict):
        raise InvalidInputError(f"The body must be a JSON object, not {type(body).__name__}.")
    compile_schema(schema).validate(body)
    return body
