"""Configuration overrides and toggles of the database, as apcore's system modules keep and change them (§6.7)."""

from collections.abc import Mapping
from typing import Any

from django.db import router

from apcore.errors import ModuleError
from apcore.system import TOGGLE_PREFIX, Author, ConfigValues, KeptValues, toggle_key
from django_apcore import services
from django_apcore.models import Override, Toggle


class DatabaseOverridesStore:
    """What was changed at run time. Toggles have a table of their own, which is the only truth about them."""

    def load(self) -> dict[str, Any]:
        """Values and toggles by key. Raises UndecryptableError for a secret whose encryption key is lost."""
        rows = Override.objects.using(router.db_for_read(Override))
        toggles = Toggle.objects.using(router.db_for_read(Toggle)).values_list("module_id", "enabled")
        return {row.key: services.value_of(row) for row in rows} | {toggle_key(name): on for name, on in toggles}

    def save(self, key: str, value: Any) -> None:
        """Keep a value or a toggle, for every process."""
        if key.startswith(TOGGLE_PREFIX):
            services.toggle(key.removeprefix(TOGGLE_PREFIX), enabled=bool(value), actor=None)
        else:
            services.override(key, value, actor=None)

    def delete(self, key: str) -> None:
        """Forget a value; a module that is forgotten is on."""
        if key.startswith(TOGGLE_PREFIX):
            services.toggle(key.removeprefix(TOGGLE_PREFIX), enabled=True, actor=None)
        else:
            services.drop_override(key, actor=None)


class StoredValues:
    """The configuration values alone, which a `Config` takes up."""

    def load(self) -> dict[str, Any]:
        """The values by key; one that cannot be decrypted any more is missing, which `health` reports."""
        rows = Override.objects.using(router.db_for_read(Override))
        return {row.key: value for row in rows for value in _readable(row)}


class DatabaseControls:
    """Changes are rows: shown before they are made, and in force everywhere once they are committed."""

    are_durable = True

    def switch(self, module_id: str, enabled: bool, author: Author) -> None:
        """Write the toggle of a module."""
        services.toggle(
            module_id, enabled=enabled, actor=author.identity, reason=author.reason, trace_id=author.trace_id
        )

    def configure(self, key: str, value: Any, author: Author, told: Mapping[str, Any]) -> None:
        """Write the override of a value."""
        services.override(key, value, actor=author.identity, reason=author.reason, trace_id=author.trace_id, told=told)


def take_up_overrides(config: ConfigValues) -> None:
    """Put what the database holds now above all other sources of a configuration."""
    config.use_overrides(KeptValues(StoredValues(), config))


def _readable(row: Override) -> list[Any]:
    try:
        return [services.value_of(row)]
    except ModuleError:
        return []
