"""The composition root: the only place that wires the rooms together (DESIGN §3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from apcore.acl import ACL, ACLChecker, configured_acl
from apcore.approval import ApprovalHandler
from apcore.config import Config, core_schema
from apcore.errors import require
from apcore.events import EventEmitter
from apcore.execution import AsyncRunner, Executor, ExecutorSettings, SyncRunner
from apcore.execution.executor import RunnerFactory
from apcore.execution.exporting import provider_for
from apcore.execution.parts import listed
from apcore.execution.pipelines import configured_strategy
from apcore.extensions import ExtensionManager, apply_extensions, load_extensions
from apcore.ids import IdMap
from apcore.middleware.builtin.defaults import Watched, adjusted, assembled, thresholds_in, watching
from apcore.middleware.builtin.observing import make_metrics, make_tracing, observing
from apcore.middleware.configuration import MiddlewareSettings
from apcore.registry import Registry, bridge_events
from apcore.telemetry.error_history import ErrorHistory, limits_from
from apcore.telemetry.health import HealthThresholds
from apcore.telemetry.settings import ObservabilitySettings
from apcore.telemetry.usage import UsageCollector, UsageSettings
from apcore.toggles import Toggles

_SECTIONS: Final = frozenset({"apcore", "_config", *core_schema()["properties"]})


@dataclass(frozen=True, slots=True)
class App:
    """Everything in one process that has state: who may call, what is registered, what is switched off, who calls."""

    registry: Registry
    acl: ACL | ACLChecker | None
    toggles: Toggles
    approval_handler: ApprovalHandler | None
    executor: Executor
    events: EventEmitter
    usage: UsageCollector
    error_history: ErrorHistory
    config: Config
    id_map: IdMap
    tracing: Any = None
    """The `TracingProvider`, None where tracing is off."""
    metrics: Any = None
    """The `MetricsCollector`, None where metrics are off."""
    extensions: ExtensionManager = field(default_factory=ExtensionManager)
    """What others put in the place of the framework's own (§11.3)."""
    undecided: Callable[[HealthThresholds | None], Iterable[Any]] | None = field(default=None, repr=False)
    """Makes what watches calls, where no configuration has decided whether that is wanted."""

    def watch_calls(self, notify: HealthThresholds | None = None) -> None:
        """Feed ``usage`` and ``error_history`` from now on, unless a configuration has decided about that (§10.4).

        With ``notify``, events tell of modules that are above these thresholds (§9.15.3).
        """
        if self.undecided is None:
            return
        installed = {entry.id for entry in self.executor.middleware}
        for middleware in self.undecided(notify):
            if middleware.id not in installed:
                self.executor.use(middleware)


def build_app(
    *,
    registry: Registry | None = None,
    acl: ACL | None = None,
    toggles: Toggles | None = None,
    approval_handler: ApprovalHandler | None = None,
    middlewares: Iterable[Any] | None = None,
    config: Config | ExecutorSettings | Mapping[str, Any] | None = None,
    runners: tuple[RunnerFactory, RunnerFactory] = (SyncRunner, AsyncRunner),
    events: EventEmitter | None = None,
    usage: UsageCollector | None = None,
    error_history: ErrorHistory | None = None,
    observability: ObservabilitySettings | None = None,
    tracer_provider: Any = None,
    middleware: MiddlewareSettings | None = None,
    extensions: ExtensionManager | None = None,
) -> App:
    """An app from its parts; what is not given is new and empty, or as the configuration says (§9.1).

    ``config`` is a ``Config``, data as in a configuration file, or the limits of the executor alone. From a whole
    configuration come, where they are not given: the access list, which denies by default (C-64); the registry, with
    what ``extensions``, ``schema`` and ``bindings`` name, unless ``extensions.auto_discover`` is off; the sizes of
    usage and error history; what is traced, counted and logged; and the middleware, to which ``middleware`` and the
    objects in ``middlewares`` are added. Without one, and without ``acl``, every call is allowed and none is traced,
    and calls are counted from when system modules come that tell of it. ``extensions``, and those that the
    configuration names, come before all of this and before the parts that are given (§11.3). ``tracer_provider`` is
    OpenTelemetry's, if spans shall go to another than the global one.

    Raises ConfigError, ACLRuleError for an access list that cannot be read, and what ``Registry.discover`` raises.
    """
    for name, given, kind in (
        ("registry", registry, Registry),
        ("usage", usage, UsageCollector),
        ("error_history", error_history, ErrorHistory),
        ("observability", observability, ObservabilitySettings),
        ("middleware", middleware, MiddlewareSettings),
        ("events", events, EventEmitter),
    ):
        if given is not None:
            require(name, given, kind, f"one of {kind.__name__}")
    configured, is_whole = _configuration(config)
    core = configured.namespace("apcore")
    is_discovering = registry is None and is_whole
    if registry is None:
        registry = Registry(strict_inputs=core["schema"]["validation"]["strict"])
    extended = load_extensions(configured if is_whole else None, extensions)
    apply_extensions(extended, registry)
    toggles = Toggles() if toggles is None else toggles
    events = EventEmitter() if events is None else events
    if acl is None and is_whole and extended.get("acl") is None:
        acl = configured_acl(configured)
    layers = MiddlewareSettings.read(core["middleware"]) | (middleware or MiddlewareSettings())
    observability = _observability(configured, is_whole) if observability is None else observability
    observability = adjusted(observability, layers)
    if extended.get("span_exporter") is not None and tracer_provider is None:
        tracer_provider = provider_for(extended.get_all("span_exporter"))
        observability = _traced(observability, configured)
    usage = _usage(configured) if usage is None else usage
    error_history = _error_history(configured) if error_history is None else error_history
    watched = Watched(registry, events, usage, error_history)
    tracing = make_tracing(observability, tracer_provider, exports=_chooses_exporter(configured))
    metrics = make_metrics(observability)
    executor = Executor(
        registry,
        acl=acl,
        approval_handler=approval_handler,
        config=ExecutorSettings.from_config(configured),
        toggles=toggles,
        runners=runners,
        events=events,
        sensitive_keys=observability.sensitive_keys,
    )
    built_ins = observing(observability, tracing=tracing, metrics=metrics)
    built_ins += watching(watched, thresholds_in(configured)) if is_whole else ()
    for entry in assembled(built_ins, layers, listed(middlewares)):
        executor.use(entry.middleware, id=entry.id, priority=entry.priority)
    apply_extensions(extended, registry, executor, traces=False)
    executor.use_strategy(configured_strategy(executor.strategy, core.get("pipeline")))
    bridge_events(registry, events)
    if tracing is not None:
        registry.observe(tracing.discovering)
    if is_discovering:
        _discover(registry, configured, core["extensions"])
    return App(
        registry,
        executor.acl,
        toggles,
        executor.approval_handler,
        executor,
        events,
        usage,
        error_history,
        configured,
        IdMap.from_dict(core["id_map"]),
        tracing,
        metrics,
        extended,
        None if is_whole else partial(_enabled_watchers, watched, layers.disabled),
    )


def _enabled_watchers(parts: Watched, disabled: Collection[str], notify: HealthThresholds | None) -> list[Any]:
    return [each for each in watching(parts, notify) if each.id not in disabled]


def _configuration(given: Config | ExecutorSettings | Mapping[str, Any] | None) -> tuple[Config, bool]:
    """The configuration, and whether it is a whole one rather than limits of the executor."""
    if isinstance(given, Config):
        return given, True
    if isinstance(given, Mapping) and not _SECTIONS.isdisjoint(given):
        return Config.from_dict(given), True
    config = Config.from_defaults()
    if given is not None:
        limits = given if isinstance(given, ExecutorSettings) else ExecutorSettings.from_mapping(given)
        for name, value in asdict(limits).items():
            config.set(f"executor.{name}", value)
    return config, False


def _discover(registry: Registry, config: Config, section: Mapping[str, Any]) -> None:
    """A root that does not exist was warned about when the configuration was read (§9.3)."""
    has_source = registry.extended.discoverer is not None or Path(section["root"]).exists()
    if section["auto_discover"] and has_source:
        registry.discover(config)


def _observability(config: Config, is_whole: bool) -> ObservabilitySettings:
    return (
        ObservabilitySettings.from_mapping(config.namespace("observability")) if is_whole else ObservabilitySettings()
    )


def _traced(observability: ObservabilitySettings, config: Config) -> ObservabilitySettings:
    """Who registers an exporter wants spans, unless the configuration says that there shall be none."""
    root = "apcore.observability" if config.mode == "legacy" else "observability"
    if any(config.is_set(f"{prefix}.tracing.enabled") for prefix in {root, "observability"}):
        return observability
    return replace(observability, tracing=replace(observability.tracing, enabled=True))


def _chooses_exporter(config: Config) -> bool:
    """Whether somebody asked for spans; that they are on by default in old files must not fill standard output."""
    root = "apcore.observability" if config.mode == "legacy" else "observability"
    names = ("tracing.enabled", "tracing.exporter", "tracing.otlp_endpoint")
    return any(config.is_set(f"{prefix}.{name}") for prefix in {root, "observability"} for name in names)


def _usage(config: Config) -> UsageCollector:
    return UsageCollector(settings=UsageSettings.from_mapping(config.namespace("sys_modules")["usage"]))


def _error_history(config: Config) -> ErrorHistory:
    return ErrorHistory(limits=limits_from(config.namespace("observability")["error_history"]))
