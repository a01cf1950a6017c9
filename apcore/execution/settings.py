"""The limits of an executor (§9.1.1)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, fields
from time import monotonic
from typing import Any

from apcore.config import Config
from apcore.errors import ConfigError
from apcore.execution.merging import MAX_MERGE_DEPTH

logger = logging.getLogger("apcore.execution")

_RANGES = {
    "default_timeout": (0, 600_000),
    "global_timeout": (0, 600_000),
    "max_call_depth": (1, 1000),
    "max_module_repeat": (1, 100),
    "grace_period": (0, 600_000),
    "max_merge_depth": (1, 256),
    "max_stream_bytes": (0, 2**40),
}


@dataclass(frozen=True, slots=True)
class ExecutorSettings:
    """Limits of an executor; times are milliseconds and 0 means no limit (§9.1.1, §12.7.5).

    ``default_timeout`` limits one module's ``execute()``, ``global_timeout`` the whole chain from the root's first
    ``before()``. ``grace_period`` is how long a module may take to react to cancellation before it is interrupted.
    Of a stream, ``max_merge_depth`` levels of objects are merged, and the result has at most ``max_stream_bytes`` of
    JSON (0 means no limit, §12.2).
    Raises ConfigError for a value outside its range.
    """

    default_timeout: int = 30_000
    global_timeout: int = 60_000
    max_call_depth: int = 32
    max_module_repeat: int = 3
    grace_period: int = 5_000
    max_merge_depth: int = MAX_MERGE_DEPTH
    max_stream_bytes: int = 64 * 2**20

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                raise ConfigError(
                    f"executor.{name} must be a whole number from {low} to {high}, not {value!r} (§9.1.1)"
                )
        for name in ("default_timeout", "global_timeout"):
            if getattr(self, name) == 0:
                logger.warning("executor.%s is 0: calls have no such time limit", name)

    def module_deadline(self, timeout_ms: int | None, chain_deadline: float | None) -> float | None:
        """When a module that starts now must be done (monotonic seconds): by its own limit or the chain's (C-58)."""
        limit = self.default_timeout if timeout_ms is None else timeout_ms
        if not limit:
            return chain_deadline
        own = monotonic() + limit / 1000
        return own if chain_deadline is None or own < chain_deadline else chain_deadline

    @classmethod
    def from_mapping(cls, values: Any) -> ExecutorSettings:
        """Read ``{"default_timeout": 30000, …}``. Raises ConfigError for an unknown key, and for no mapping."""
        if not isinstance(values, Mapping):
            hint = "; a file is read with Config.load(path)" if isinstance(values, str) else ""
            raise ConfigError(f"Executor settings are a mapping, not {type(values).__name__}{hint}")
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise ConfigError(f"Unknown executor settings: {', '.join(unknown)}; known are: {', '.join(sorted(known))}")
        return cls(**values)

    @classmethod
    def from_config(cls, config: Config) -> ExecutorSettings:
        """Read the section ``executor`` of a configuration, whose other keys concern others."""
        section = config.namespace("apcore")["executor"]
        return cls(**{field.name: section[field.name] for field in fields(cls) if field.name in section})


class Limits:
    """The settings that an executor goes by now; its parts look here, so that one assignment changes them for all."""

    __slots__ = ("settings",)

    def __init__(self, settings: ExecutorSettings) -> None:
        self.settings = settings
