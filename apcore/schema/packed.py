"""The schemas that modules declare, checked at once and unpacked when somebody reads them (§4.1, §5.6)."""

from __future__ import annotations

import json
import marshal
from typing import Any, Final, NewType

from apcore.errors import SchemaParseError
from apcore.schema.documents import schema_document
from apcore.schema.validate import check_schema

PackedSchema = NewType("PackedSchema", bytes)
"""A usable schema in one piece of memory.

Most of the thousands that may be registered are not read before a call comes, if one comes at all. Packed they take a
fraction of the room, the garbage collector has nothing to look at, and nobody can change them.
"""

_BY_VALUE: Final = 2
"""The last version of the format without references: what it writes does not depend on who else holds a text."""

# Those that were found right, by their content: immutable values, so that sharing them between applications changes
# nothing. `lru_cache` would have the document unpacked to check it, which is in hand already.
_known: Final[dict[bytes, PackedSchema]] = {}
_MOST_KNOWN: Final = 2048


def pack_schema(source: Any, *, output: bool = False) -> PackedSchema:
    """The document of ``schema_document``, checked by ``check_schema``; raises as both, and for what is no object.

    ``output`` tells that the schema is about what a module returns. Equal documents are one object. Raises
    SchemaParseError for one that contains itself or has hundreds of levels.
    """
    try:
        return _packed(source, output)
    except RecursionError:
        raise SchemaParseError("The schema contains itself, or has more levels than can be read; flatten it") from None


def _packed(source: Any, output: bool) -> PackedSchema:
    document = source if source.__class__ is dict else schema_document(source, output=output)
    try:
        packed = marshal.dumps(document, _BY_VALUE)
    except ValueError:  # it holds more than plain data
        document = _as_plain_data(schema_document(document))
        packed = marshal.dumps(document, _BY_VALUE)
    known = _known.get(packed)
    if known is None:
        _check(document)
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        known = _known[packed] = PackedSchema(packed)
    return known


def _check(document: dict[str, Any]) -> None:
    check_schema(document)
    kind = document.get("type", "object")
    if kind != "object" and "object" not in kind:
        raise SchemaParseError(f"Inputs and outputs of a module are objects, and the schema describes {kind!r}")


def unpack_schema(packed: PackedSchema) -> dict[str, Any]:
    """The JSON Schema document, a new one each time."""
    return schema_document(marshal.loads(packed))  # noqa: S302 - written by this process


def _as_plain_data(document: dict[str, Any]) -> Any:
    """What JSON makes of the document: a text for a kind of text, a number for a member of an enumeration."""
    try:
        return json.loads(json.dumps(document, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise SchemaParseError("The schema holds something that JSON cannot express", cause=error) from error
