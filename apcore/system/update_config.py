"""Changing a configuration value: `system.control.update_config` (§6.7)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from apcore.config import core_schema
from apcore.context import Context
from apcore.errors import InvalidInputError
from apcore.events import core_event
from apcore.modules import Change, PreviewResult
from apcore.redaction import REDACTED_VALUE, redact, redact_sensitive
from apcore.system.base import REASON, WRITE, author_of, closed, is_secret_key
from apcore.system.overrides import TOGGLE_PREFIX
from apcore.system.ports import ConfigValues, Controls, SystemApp

CONFIG_KEY: Final[Mapping[str, Any]] = {
    "type": "string",
    "pattern": r"^[^.\s\x00-\x1f\x7f]+(\.[^.\s\x00-\x1f\x7f]+)*$",
    "maxLength": 255,
    "description": "The dotted path of the value: executor.default_timeout",
}
READ_AT_START: Final = frozenset({"apcore", "observability", "sys_modules", *core_schema()["properties"]})
"""Where the framework's own values are. An app goes by those that it was built from."""

_ANY_JSON: Final[Mapping[str, Any]] = {
    "type": ["string", "number", "boolean", "object", "array", "null"],
    "description": "Any JSON value; of a sensitive key it is shown nowhere",
}


class UpdateConfig:
    """`system.control.update_config`. `effect` is how a change can be shown before it is made; see `Controls`.

    What is below a name that is `fixed` cannot be changed at run time. Values of the framework's own count when an app
    is built. Neither holds for the keys `at_once`.
    """

    description = "Set a configuration value at run time, by its dotted path; it is validated before it is applied"
    tags = ("system", "control")
    annotations = WRITE
    input_schema = closed({"key": CONFIG_KEY, "value": _ANY_JSON, "reason": REASON}, "reason")
    output_schema = closed(
        {
            "success": {"const": True},
            "key": CONFIG_KEY,
            "old_value": _ANY_JSON,
            "new_value": _ANY_JSON,
            "restart_needed": {
                "const": True,
                "description": "The framework reads this value when an app is built; without it, it is in force now",
            },
        },
        "restart_needed",
    )

    def __init__(
        self,
        app: SystemApp,
        controls: Controls,
        config: ConfigValues,
        sensitive_keys: Collection[str],
        effect: str | None = None,
        fixed: Collection[str] = (),
        at_once: Collection[str] = (),
    ) -> None:
        self._app = app
        self._controls = controls
        self._config = config
        self._sensitive_keys = frozenset(sensitive_keys)
        self._fixed = frozenset(fixed)
        self._at_once = frozenset(at_once)
        self.effect = effect

    def execute(self, inputs: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """Set the value, and tell. Raises ConfigError for a value that is not valid; then nothing was changed."""
        key, value = inputs["key"], inputs["value"]
        self._require(key, value)
        told = self._told(key, value)
        self._controls.configure(key, value, author_of(inputs, context), told)
        self._app.events.emit(core_event("apcore.config.updated", told, trace_id=context.trace_id))
        return {"success": True, **told, **({"restart_needed": True} if self._needs_restart(key) else {})}

    def preview(self, inputs: Mapping[str, Any], context: Context) -> PreviewResult:
        """Which value would be replaced by which. Raises ConfigError."""
        key, value = inputs["key"], inputs["value"]
        self._require(key, value)
        told = self._told(key, value)
        before, after = {"value": told["old_value"]}, {"value": told["new_value"]}
        return PreviewResult([Change("update", f"config:{key}", f"Set {key}", before=before, after=after)])

    def _needs_restart(self, key: str) -> bool:
        return key.partition(".")[0] in READ_AT_START and key not in self._at_once

    def _require(self, key: str, value: Any) -> None:
        if key.startswith(TOGGLE_PREFIX):
            raise InvalidInputError(
                f"'{key}' is no configuration key: modules are switched with system.control.toggle_feature",
                user_fixable=True,
            )
        if key.partition(".")[0] in self._fixed and key not in self._at_once:
            raise InvalidInputError(
                f"'{key}' is read when a process starts, so a change would not count: set it in the settings, the "
                "configuration file or the environment, and restart",
                user_fixable=True,
            )
        if self._shown(key, value) != self._shown_by_name(key, value):
            raise InvalidInputError(
                f"'{key}' is a secret that its name does not tell, so a request for it would show the value: set it in "
                "the configuration file or the environment",
                user_fixable=True,
            )
        self._config.check(key, value)

    def _told(self, key: str, value: Any) -> dict[str, Any]:
        return {
            "key": key,
            "old_value": self._shown(key, self._config.get(key)),
            "new_value": self._shown(key, value),
        }

    def _shown(self, key: str, value: Any) -> Any:
        """The value without secrets, by the names of keys (C-56) and by the schema of the configuration."""
        path = key.split(".")
        shown: Any = redact_sensitive(_tree(path, self._shown_by_name(key, value)), self._config.schema())
        for part in path:
            if not isinstance(shown, Mapping):
                return shown  # hidden with everything below it
            shown = shown[part]
        return shown

    def _shown_by_name(self, key: str, value: Any) -> Any:
        """As those show it who know nothing of the configuration: nothing of it, if the key means a secret."""
        if is_secret_key(key, self._sensitive_keys):
            return REDACTED_VALUE
        return redact(value, None, self._sensitive_keys)


def _tree(path: Sequence[str], value: Any) -> Any:
    for part in reversed(path):
        value = {part: value}
    return value
