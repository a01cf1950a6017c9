"""What the namespace ``observability`` says about traces, logs and metrics (§9.15.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Self, get_args

from apcore.errors import ConfigError
from apcore.redaction import DEFAULT_SENSITIVE_KEYS
from apcore.telemetry.sampling import SamplingStrategy

TRACE_EXPORTERS: Final = ("stdout", "otlp", "jaeger", "in_memory")
METRIC_EXPORTERS: Final = ("stdout", "prometheus", "otlp", "in_memory")
LOG_LEVELS: Final = ("trace", "debug", "info", "warn", "error", "fatal")
LOG_FORMATS: Final = ("json", "text")

_ALIASES: Final = {"sampling_strategy": "strategy"}  # §10.7 against §9.15.2 (C-35)


@dataclass(frozen=True, slots=True)
class TracingSettings:
    """``observability.tracing``. Raises ConfigError for a value that §9.15.2 or C-09 does not list.

    ``exporter`` and ``otlp_endpoint`` only count where no tracer provider of the application is used.
    """

    enabled: bool = False
    strategy: SamplingStrategy = "full"
    sampling_rate: float = 1.0
    exporter: str = "stdout"
    otlp_endpoint: str | None = None

    def __post_init__(self) -> None:
        _require("tracing.strategy", self.strategy, get_args(SamplingStrategy))
        _require("tracing.exporter", self.exporter, TRACE_EXPORTERS)
        rate: object = self.sampling_rate
        if not isinstance(rate, (int, float)) or isinstance(rate, bool) or not 0 <= rate <= 1:
            raise ConfigError(f"observability.tracing.sampling_rate must be a number from 0 to 1, not {rate!r} (§10.7)")

    @property
    def is_on(self) -> bool:
        """Whether anything is recorded: either way of saying "off" counts (C-35)."""
        return self.enabled and self.strategy != "off" and (self.strategy == "error_first" or self.sampling_rate > 0)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Read ``{"enabled": …, "strategy": …}``. Raises ConfigError for an unknown key or a wrong value."""
        return cls(**_read(cls, "tracing", values))


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """``observability.metrics``. Raises ConfigError for an exporter that §9.15.2 or C-09 does not list."""

    enabled: bool = False
    exporter: str = "stdout"

    def __post_init__(self) -> None:
        _require("metrics.exporter", self.exporter, METRIC_EXPORTERS)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Read ``{"enabled": …, "exporter": …}``. Raises ConfigError for an unknown key or a wrong value."""
        return cls(**_read(cls, "metrics", values))


@dataclass(frozen=True, slots=True)
class LoggingSettings:
    """``observability.logging``. Raises ConfigError for a level or format that §10.2 does not list."""

    enabled: bool = True
    level: str = "info"
    format: str = "json"
    redact_sensitive: bool = True

    def __post_init__(self) -> None:
        _require("logging.level", self.level, LOG_LEVELS)
        _require("logging.format", self.format, LOG_FORMATS)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Read ``{"level": …, "format": …}``. Raises ConfigError for an unknown key or a wrong value."""
        return cls(**_read(cls, "logging", values))


@dataclass(frozen=True, slots=True)
class ObservabilitySettings:
    """The parts of the namespace ``observability`` that this room reads. ``enabled`` switches all of them (C-09)."""

    enabled: bool = True
    tracing: TracingSettings = field(default_factory=TracingSettings)
    metrics: MetricsSettings = field(default_factory=MetricsSettings)
    logging: LoggingSettings = field(default_factory=LoggingSettings)
    sensitive_keys: frozenset[str] = DEFAULT_SENSITIVE_KEYS

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Read the namespace. Keys of other rooms are left alone; raises ConfigError for a wrong value of ours.

        ``redaction.sensitive_keys`` are added to the built-in names (C-56).
        """
        keys = (values.get("redaction") or {}).get("sensitive_keys") or ()
        if isinstance(keys, str) or not all(isinstance(key, str) for key in keys):
            raise ConfigError("observability.redaction.sensitive_keys must be a list of names (C-56)")
        return cls(
            bool(values.get("enabled", True)),
            TracingSettings.from_mapping(values.get("tracing") or {}),
            MetricsSettings.from_mapping(values.get("metrics") or {}),
            LoggingSettings.from_mapping(values.get("logging") or {}),
            DEFAULT_SENSITIVE_KEYS.union(keys),
        )


def _read(cls: type[Any], section: str, values: Mapping[str, Any]) -> dict[str, Any]:
    given = {_ALIASES.get(key, key): value for key, value in values.items()}
    known = [each.name for each in fields(cls)]
    unknown = sorted(set(given) - set(known))
    if unknown:
        listed = ", ".join(known)
        raise ConfigError(f"Unknown in observability.{section}: {', '.join(unknown)}; known are: {listed} (§9.15.2)")
    for name in ("enabled", "redact_sensitive"):
        if not isinstance(given.get(name, True), bool):
            raise ConfigError(f"observability.{section}.{name} must be true or false, not {given[name]!r}")
    return given


def _require(key: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigError(f"observability.{key} must be one of {', '.join(allowed)}, not {value!r} (§9.15.2)")
