"""Columns that take any JSON a caller may send."""

from typing import Any

from django.db import models

_UNSTORABLE = dict.fromkeys([0, *range(0xD800, 0xE000)], "\N{REPLACEMENT CHARACTER}")


def storable(value: Any) -> Any:
    """Return a copy of JSON data that every supported database keeps and returns unchanged.

    NUL and lone surrogates become U+FFFD, since PostgreSQL refuses them. Floats that PostgreSQL would hand back as
    integers (`1e300`) become text, so that a hash over the stored form can be computed again later.
    """
    if isinstance(value, str):
        return value.translate(_UNSTORABLE)
    if isinstance(value, dict):
        return {str(key).translate(_UNSTORABLE): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    if isinstance(value, float):
        return _storable_float(value)
    return value


def _storable_float(value: float) -> int | float | str:
    text = repr(value)
    if not any(letter in text for letter in "ein"):
        return int(value) if value.is_integer() else value
    return text


class StorableJSONField(models.JSONField):
    """A JSONField that stores `storable(value)` instead of failing on text the database refuses."""

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        return super().get_db_prep_value(storable(value), connection, prepared)
