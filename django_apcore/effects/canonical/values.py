"""Values in the one JSON form that is shown, compared and hashed.

Objects with a single key that starts with `$` are ours: `$known_after_apply`, `$ref`, `$redacted`, `$unchecked`,
`$unknown`, `$binary`, `$float`, `$json`, `$range`. An object of the user's with such a key is wrapped in `$object`, so
neither can pass for the other.
"""

import datetime as dt
import hashlib
import math
import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from django.utils.duration import duration_iso_string
from django.utils.functional import Promise

from apcore.redaction import REDACTED_VALUE
from apcore.schema import canonical_json
from django_apcore.secrets import keyed_digest

JSON_NULL: Final = {"$json": None}
"""The JSON value null where the column could also hold SQL NULL."""

_LONGEST_DESCRIBED = 40


class UncanonicalError(TypeError):
    """There is no canonical form for values of this type."""


def canonical_value(value: Any) -> Any:  # noqa: C901 - one line per type
    """A Python value as JSON; equal meaning gives equal JSON. Raises UncanonicalError for types that are not known."""
    match value:
        case None | bool():
            return value
        case str():
            return str(value)
        case int():
            return int(value)
        case float():
            return float(value) if math.isfinite(value) else {"$float": repr(float(value))}
        case Decimal():
            return format(value, "f")
        case dt.datetime():
            return (value.astimezone(dt.UTC) if value.tzinfo else value).isoformat()
        case dt.date() | dt.time():
            return value.isoformat()
        case dt.timedelta():
            return duration_iso_string(value)
        case uuid.UUID() | Promise():
            return str(value)
        case bytes() | bytearray() | memoryview():
            data = bytes(value)
            return {"$binary": {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}}
        case object(lower=lower, upper=upper, bounds=bounds):  # a range of PostgreSQL
            return {"$range": [canonical_value(lower), canonical_value(upper), bounds]}
        case Mapping():
            items = {str(key): canonical_value(item) for key, item in value.items()}
            return {"$object": items} if any(key.startswith("$") for key in items) else items
        case list() | tuple():
            return [canonical_value(item) for item in value]
    raise UncanonicalError(f"Values of type {type(value).__qualname__} have no canonical form.")


def known_after_apply(what: str) -> dict[str, str]:
    """A value that only the execution will choose: `id`, `now`, `uuid` or an expression."""
    return {"$known_after_apply": what}


def unchecked(field: str) -> dict[str, str]:
    """A value that was declared to differ at every measurement."""
    return {"$unchecked": field}


def redacted(canonical: Any) -> dict[str, str]:
    """A value that nobody may see, but that must not change unnoticed."""
    text = canonical_json(canonical).encode("utf-8", "surrogatepass")
    return {"$redacted": keyed_digest("effects.sensitive_field", text)}


def describe(canonical: Any) -> str:
    """A few words for a canonical value."""
    match canonical:
        case None:
            return "nothing"
        case {"$known_after_apply": what}:
            return f"({what}, known after apply)"
        case {"$ref": row}:
            return str(row)
        case {"$redacted": _}:
            return REDACTED_VALUE
        case {"$unchecked": _}:
            return "(not checked)"
        case {"$binary": {"bytes": size}}:
            return f"({size} bytes)"
    text = canonical if isinstance(canonical, str) else canonical_json(canonical)
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_DESCRIBED else line[: _LONGEST_DESCRIBED - 1] + "…"
