"""The schemas that modules declare, read and checked at once (§4.1, §5.6)."""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from apcore.schema.documents import schema_document
from apcore.schema.validate import check_schema

_CACHED_SCHEMAS: Final = 2048
_BY_VALUE: Final = 2
"""The last version of the format that has no references, so that equal documents have equal bytes."""


def checked_document(source: Any) -> Mapping[str, Any]:
    """The document of ``schema_document``, checked by ``check_schema``; raises as both.

    Most modules declare plain dictionaries, many of them the same. Their bytes are compared, and read back as a copy,
    several times as fast as JSON or a walk through the document, which counts when thousands register.
    """
    if source.__class__ is dict:
        try:
            content = marshal.dumps(source, _BY_VALUE)
        except ValueError:  # it holds more than plain data
            pass
        else:
            document: Mapping[str, Any] = marshal.loads(_checked(content))  # noqa: S302 - written above
            return document
    return _check(schema_document(source))


# A cache of immutable values by their content, so that sharing it between applications changes nothing.
@lru_cache(maxsize=_CACHED_SCHEMAS)
def _checked(content: bytes) -> bytes:
    """The bytes of the checked document, in which tuples have become lists."""
    document = _check(schema_document(marshal.loads(content)))  # noqa: S302 - written by this process
    return marshal.dumps(document, _BY_VALUE)


def _check(document: dict[str, Any]) -> dict[str, Any]:
    check_schema(document)
    return document
