"""What system modules need of the application that they look after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from apcore.context import Identity
from apcore.events import EventEmitter
from apcore.execution import Executor
from apcore.registry import Registry
from apcore.system.overrides import OverridesStore, toggle_key
from apcore.telemetry.error_history import ErrorHistory
from apcore.telemetry.health import HealthThresholds
from apcore.telemetry.usage import UsageCollector
from apcore.toggles import ToggleState


class SystemApp(Protocol):
    """The parts of `apcore.app.App` that system modules look at. Rooms point downward, so they do not import it."""

    @property
    def registry(self) -> Registry: ...

    @property
    def executor(self) -> Executor: ...

    @property
    def toggles(self) -> ToggleState: ...

    @property
    def events(self) -> EventEmitter: ...

    @property
    def usage(self) -> UsageCollector: ...

    @property
    def error_history(self) -> ErrorHistory: ...

    def watch_calls(self, notify: HealthThresholds | None = None) -> None:
        """Begin to feed ``usage`` and ``error_history``, and to notify, where nobody has decided about that."""
        ...


class KeptOverrides(Protocol):
    """Configuration values by dotted key, from where they are kept."""

    def load(self) -> Mapping[str, Any]:
        """All of them."""
        ...


class ConfigValues(Protocol):
    """Configuration values by dotted key, as `Config` has them (§9.9)."""

    def get(self, key: str, default: Any = None) -> Any:
        """The value, or the default."""
        ...

    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of all values, which marks secrets with `x-sensitive`."""
        ...

    def check(self, key: str, value: Any) -> None:
        """Raises ConfigError for a value that must not stand there; nothing changes."""
        ...

    def set(self, key: str, value: Any) -> None:
        """Put a value in its place."""
        ...

    def use_overrides(self, overrides: KeptOverrides) -> None:
        """Put kept values above all others, now and whenever the configuration is read again."""
        ...


@dataclass(frozen=True, slots=True)
class Author:
    """Who changes something and why, for those who keep a record of it."""

    identity: Identity | None
    reason: str
    trace_id: str | None


class Controls(Protocol):
    """How a change takes effect. A framework with a database brings its own, whose writes can be rolled back."""

    @property
    def are_durable(self) -> bool:
        """Whether what is switched stays so after a restart."""
        ...

    def switch(self, module_id: str, enabled: bool, author: Author) -> None:
        """Switch a module on or off."""
        ...

    def configure(self, key: str, value: Any, author: Author, told: Mapping[str, Any]) -> None:
        """Set a configuration value that was found valid. `told` is what records may say of it, without secrets."""
        ...


class StoredControls:
    """Changes this process at once, and keeps the change in an `OverridesStore` if there is one."""

    def __init__(self, toggles: ToggleState, config: ConfigValues, overrides: OverridesStore | None) -> None:
        self._toggles = toggles
        self._config = config
        self._overrides = overrides

    @property
    def are_durable(self) -> bool:
        """Whether there is a store."""
        return self._overrides is not None

    def switch(self, module_id: str, enabled: bool, author: Author) -> None:
        """Store the switch, then turn it: what cannot be stored does not happen."""
        if self._overrides is not None:
            self._overrides.save(toggle_key(module_id), enabled)
        self._toggles.set(module_id, enabled)

    def configure(self, key: str, value: Any, author: Author, told: Mapping[str, Any]) -> None:
        """Store the value, then put it into force: what cannot be stored does not happen."""
        if self._overrides is not None:
            self._overrides.save(key, value)
        self._config.set(key, value)


class PlainConfig:
    """A configuration that is a mapping: no schema, no file."""

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._values = dict(values or {})

    def get(self, key: str, default: Any = None) -> Any:
        """The value at a dotted path, or the default."""
        value: Any = self._values
        for part in key.split("."):
            if not isinstance(value, Mapping) or part not in value:
                return default
            value = value[part]
        return value

    def schema(self) -> Mapping[str, Any]:
        """There is none."""
        return {}

    def check(self, key: str, value: Any) -> None:
        """Everything may stand everywhere: there is no schema."""

    def set(self, key: str, value: Any) -> None:
        """Put a value at a dotted path."""
        self._values = _with(self._values, key.split("."), value)

    def use_overrides(self, overrides: KeptOverrides) -> None:
        """Set each of them."""
        for key, value in overrides.load().items():
            self.set(key, value)


def _with(tree: Mapping[str, Any], path: list[str], value: Any) -> dict[str, Any]:
    if len(path) == 1:
        return {**tree, path[0]: value}
    below = tree.get(path[0])
    return {**tree, path[0]: _with(below if isinstance(below, Mapping) else {}, path[1:], value)}
