"""Notes which values came from random defaults, so that they can be told from values that code chose."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from django.apps import apps
from django.db.models import Field

from django_apcore.effects.active import active_run
from django_apcore.effects.database.tables import concrete

_RANDOM_MODULES = frozenset({"uuid", "secrets"})


def random_source(field: Field[Any, Any]) -> str | None:
    """The name of the random function that gives this field its default: `uuid` for all kinds of UUID, or None."""
    default = field.default
    while isinstance(default, functools.partial):
        default = default.func
    module = getattr(default, "__module__", None)
    if module not in _RANDOM_MODULES:
        return None
    return "uuid" if module == "uuid" else str(default.__name__)


def watch_defaults() -> None:
    """Have the random defaults of all installed models note their values while a run is active. Idempotent.

    `Field.default` stays as it is, for migrations and for everybody who reads it; what is replaced is the callable
    that each field keeps for making one.
    """
    for model in apps.get_models(include_auto_created=True):
        for field in model._meta.local_fields:
            if random_source(field) and not isinstance(vars(field).get("_get_default"), _Noting):
                vars(field)["_get_default"] = _Noting((concrete(model), field.attname), field.default)


class _Noting:
    """Makes a default value, and notes it for the active run."""

    def __init__(self, key: tuple[type, str], make: Callable[[], Any]) -> None:
        self._key, self._make = key, make

    def __call__(self) -> Any:
        value = self._make()
        if run := active_run():
            run.generated[self._key].add(value)
        return value
