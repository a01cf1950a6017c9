"""What was changed at run time, kept so that it outlives the process (§6.7)."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final, Protocol

from apcore.errors import require

TOGGLE_PREFIX: Final = "toggles."
"""Keys that begin with it hold whether a module is on; all others are dotted keys of the configuration."""


class OverridesStore(Protocol):
    """Keeps values by key; writing is atomic per key."""

    def load(self) -> dict[str, Any]:
        """Everything that is stored, by key."""
        ...

    def save(self, key: str, value: Any) -> None:
        """Store a JSON value in the place of what was stored under this key."""
        ...

    def delete(self, key: str) -> None:
        """Forget a key; one that is not stored is fine."""
        ...


class MemoryOverridesStore:
    """Keeps overrides as long as it lives: for tests, and for apps that are built again in one process."""

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        require("values", {} if values is None else values, Mapping, "an object of values by key")
        self._values = copy.deepcopy(dict(values or {}))

    def load(self) -> dict[str, Any]:
        """A copy of everything."""
        return copy.deepcopy(self._values)

    def save(self, key: str, value: Any) -> None:
        """Store a copy of the value."""
        self._values[key] = copy.deepcopy(value)

    def delete(self, key: str) -> None:
        """Forget a key."""
        self._values.pop(key, None)


def toggle_key(module_id: str) -> str:
    """The key under which the toggle of a module is stored."""
    return f"{TOGGLE_PREFIX}{module_id}"


def toggles_in(overrides: Mapping[str, Any]) -> dict[str, bool]:
    """The toggles among overrides, by module ID."""
    return {key.removeprefix(TOGGLE_PREFIX): bool(value) for key, value in overrides.items() if _is_toggle(key)}


def values_in(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration values among overrides, a section before the parts of it."""
    return {key: overrides[key] for key in sorted(overrides) if not _is_toggle(key)}


def _is_toggle(key: str) -> bool:
    return key.startswith(TOGGLE_PREFIX)
