"""Writes the JSON Schema of the namespace `django-apcore` from the fields of ApcoreSettings: `--write`.

The schema is a file, because editors and the Config Bus read files; a test compares it with the fields.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from django_apcore.conf import ApcoreSettings
from django_apcore.configuration import section_of
from tools.docs_hooks import meanings_of_settings

FILE = Path(__file__).resolve().parent.parent / "django_apcore" / "schemas" / "django-apcore.schema.json"

_TEXTS = {"type": "array", "items": {"type": "string"}}
_MIDDLEWARE = {"type": ["string", "object"]}
_SPECIAL: dict[str, dict[str, Any]] = {
    "middleware": {
        "type": ["object", "array"],
        "properties": {"enabled": {"type": "boolean"}, "classes": {"type": "array", "items": _MIDDLEWARE}},
        "items": _MIDDLEWARE,
    },
    "encryption_keys": {**_TEXTS, "x-sensitive": True},
}
_KINDS: dict[Any, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    timedelta: {"type": "number", "exclusiveMinimum": 0},
    tuple: _TEXTS,
    Mapping: {"type": "object"},
}


def settings_schema() -> dict[str, Any]:
    """The schema; times are seconds there."""
    hints, meanings = get_type_hints(ApcoreSettings), meanings_of_settings()
    defaults = section_of({field.name: field.default for field in fields(ApcoreSettings)})
    properties = {
        name: {**(_SPECIAL.get(name) or _kind(hints[name])), "default": default, "description": meanings[name]}
        for name, default in defaults.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Namespace django-apcore (§9.13.3)",
        "type": "object",
        "properties": properties,
    }


def as_text() -> str:
    """What stands in the file."""
    return json.dumps(settings_schema(), indent=2, ensure_ascii=False) + "\n"


def _kind(hint: Any) -> dict[str, Any]:
    alternatives = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    [kind] = [_KINDS[get_origin(each) or each] for each in alternatives if each is not type(None)]
    return {**kind, "type": [kind["type"], "null"]} if len(alternatives) > 1 else dict(kind)


if __name__ == "__main__":
    if "--write" in sys.argv:
        FILE.write_text(as_text(), encoding="utf-8")
    else:
        print(as_text(), end="")
