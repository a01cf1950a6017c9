"""The parts of apcore that this process uses, built once from the settings."""

import logging
import threading
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from functools import partial
from typing import Any

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured

from apcore.acl import ACL, ACLChecker
from apcore.app import App, build_app
from apcore.approval import ApprovalHandler
from apcore.config import Config
from apcore.context import ContextFactory
from apcore.events import EventEmitter
from apcore.execution import Executor
from apcore.extensions import apply_extensions, load_extensions
from apcore.ids import SYSTEM_PREFIX
from apcore.middleware.builtin.invariants import InvariantsMiddleware
from apcore.registry import Registry
from apcore.system import READ_AT_START, register_sys_modules
from apcore.telemetry.error_history import ErrorHistory, limits_from
from apcore.telemetry.error_records import ErrorLimits
from apcore.telemetry.flushing import Flusher
from apcore.telemetry.settings import ObservabilitySettings
from apcore.telemetry.usage import UsageCollector, UsageSettings
from apcore.toggles import Toggles
from django_apcore.conf import ApcoreSettings, acl_conditions, get_settings, imported, load_config, middleware_settings
from django_apcore.configuration import NAMESPACE
from django_apcore.discovery import noticed, register_modules
from django_apcore.runner import DjangoAsyncRunner, DjangoSyncRunner
from django_apcore.services import check_health, sensitive_keys
from django_apcore.stores import (
    DatabaseACL,
    DatabaseControls,
    DatabaseErrorStore,
    DatabaseFlusher,
    DatabaseToggles,
    DatabaseUsageStore,
    WebhookOutbox,
    take_up_overrides,
)

logger = logging.getLogger("django_apcore")

_building = threading.RLock()


@dataclass(frozen=True, slots=True)
class Runtime:
    """What a process needs to make calls: apcore's app, and the factory that turns requests into contexts."""

    app: App
    context_factory: ContextFactory
    flusher: Flusher
    event_streams: threading.BoundedSemaphore
    """One for each caller that may follow a task at the same time."""

    @property
    def registry(self) -> Registry:
        """Which modules there are."""
        return self.app.registry

    @property
    def executor(self) -> Executor:
        """Makes calls."""
        return self.app.executor

    @property
    def acl(self) -> ACL | ACLChecker | None:
        """Who may call what."""
        return self.app.acl

    @property
    def toggles(self) -> Toggles:
        """Which modules are switched off."""
        return self.app.toggles

    @property
    def approval_handler(self) -> ApprovalHandler | None:
        """Who is asked for approvals."""
        return self.app.approval_handler


def get() -> Runtime:
    """The runtime of this process, built when it is first asked for. Raises what is wrong with settings or modules."""
    config = _config()
    if config.runtime is None:
        with _building:
            if config.runtime is None:
                config.runtime = build()
    runtime: Runtime = config.runtime
    return runtime


def reset() -> None:
    """Forget the runtime and its registry; the next call builds both anew."""
    config = _config()
    with _building:
        config.runtime = None
        config.registry = None
        config.notices = ()


def replace(runtime: Runtime | None) -> Runtime | None:
    """Put another runtime in place, for tests. Returns the one before."""
    config = _config()
    with _building:
        previous: Runtime | None = config.runtime
        config.runtime = runtime
    return previous


def build(
    *,
    registry: Registry | None = None,
    acl: ACL | None = None,
    toggles: Toggles | None = None,
    approval_handler: ApprovalHandler | None = None,
    flusher: Flusher | None = None,
) -> Runtime:
    """A runtime after the settings, with the given parts in place of those that the settings name."""
    settings, config = get_settings(), load_config()
    flusher = flusher if flusher is not None else DatabaseFlusher(settings.usage_flush_seconds)
    app = build_app(
        registry=registry if registry is not None else get_registry(),
        acl=acl if acl is not None else _acl(settings),
        toggles=toggles if toggles is not None else DatabaseToggles(),
        approval_handler=approval_handler if approval_handler is not None else _approval_handler(settings),
        middleware=middleware_settings(),
        extensions=load_extensions(settings.extensions),
        config=config,
        runners=(DjangoSyncRunner, DjangoAsyncRunner),
        events=EventEmitter(sensitive_keys=sensitive_keys()),
        usage=UsageCollector(DatabaseUsageStore(), settings=_usage_settings(settings, config), flusher=flusher),
        error_history=ErrorHistory(DatabaseErrorStore(), limits=_error_limits(config), flusher=flusher),
        observability=_observability(config),
    )
    for path in settings.rewriters:
        app.executor.add_rewriter(imported(path))
    _add_system_modules(app)
    if app.approval_handler is None:
        _warn_of_what_nobody_signs(app.registry)
    _watch_invariants(app, settings.invariants)
    app.events.subscribe(WebhookOutbox())  # last: how a process starts is no news
    return Runtime(
        app, imported(settings.context_factory)(), flusher, threading.BoundedSemaphore(settings.api_event_streams)
    )


def stop() -> None:
    """Write what calls left behind in memory. For the end of the process; it may still make calls."""
    runtime: Runtime | None = _config().runtime
    if runtime is not None:
        runtime.flusher.stop()


def get_registry() -> Registry:
    """The registry of this process, with the modules of all installed apps (§9.13.3), and those below
    `extensions.root` where the configuration says so."""
    config = _config()
    with _building:
        if config.registry is None:
            apcore = load_config()
            registry = Registry(strict_inputs=apcore.namespace("apcore")["schema"]["validation"]["strict"])
            apply_extensions(load_extensions(apcore, load_extensions(get_settings().extensions)), registry)
            with noticed() as texts:
                if get_settings().auto_register_modules:
                    register_modules(registry)
                if (
                    apcore.namespace("apcore")["extensions"]["auto_discover"]
                    or registry.extended.discoverer is not None
                ):
                    registry.discover(apcore)
            config.notices = tuple(texts)
            config.registry = registry
        found: Registry = config.registry
    return found


def is_registered() -> bool:
    """Whether the modules of the installed apps were admitted in this process."""
    return _config().registry is not None and get_settings().auto_register_modules


def notices() -> tuple[str, ...]:
    """What was warned about while the modules were found and admitted."""
    found: tuple[str, ...] = _config().notices
    return found


def _warn_of_what_nobody_signs(registry: Registry) -> None:
    """Without a handler there is no gate (§7.4). The check E004 says so too, but web servers run no checks."""
    loaded = filter(None, map(registry.get_loaded, registry.list(include_hidden=True)))
    unsigned = [definition.module_id for definition in loaded if definition.requires_approval]
    if unsigned:
        logger.warning("No approval handler is configured: these run without a signature: %s", ", ".join(unsigned))


def _watch_invariants(app: App, mode: str) -> None:
    if mode not in ("off", "log", "raise"):
        raise ImproperlyConfigured(f"APCORE['INVARIANTS'] must be off, log or raise, not {mode!r}.")
    if mode != "off":
        listener = InvariantsMiddleware(raising=mode == "raise")
        app.executor.use(listener)
        app.events.subscribe(listener)


def _add_system_modules(app: App) -> None:
    """Register the system modules for this app, in the place of those that look after an earlier one (§9.15.1)."""
    if isinstance(app.toggles, DatabaseToggles):
        app.toggles.on_refresh(partial(take_up_overrides, app.config))
    for module_id in app.registry.list(SYSTEM_PREFIX, include_hidden=True):
        app.registry.unregister(module_id)
    register_sys_modules(
        app,
        config=app.config,
        controls=DatabaseControls(),
        sensitive_keys=sensitive_keys(),
        check_installation=lambda: check_health().to_dict(),
        # A process builds its app before it asks the database, so what is overridden there would never count.
        fixed=(NAMESPACE, *READ_AT_START),
    )


def _observability(config: Config) -> ObservabilitySettings:
    given = ObservabilitySettings.from_mapping(config.namespace("observability"))
    return replace_fields(given, sensitive_keys=frozenset(sensitive_keys()))


def _acl(settings: ApcoreSettings) -> ACL:
    if settings.acl_file is not None:
        return ACL.load(settings.acl_file, conditions=acl_conditions())
    return DatabaseACL()


def _usage_settings(settings: ApcoreSettings, config: Config) -> UsageSettings:
    section = config.namespace("sys_modules")["usage"]
    return UsageSettings.from_mapping({"retention_days": settings.usage_retention_days, **section})


def _error_limits(config: Config) -> ErrorLimits:
    return limits_from(config.namespace("observability")["error_history"])


def _approval_handler(settings: ApcoreSettings) -> ApprovalHandler | None:
    if settings.approval_handler is None:
        return None
    handler: ApprovalHandler = imported(settings.approval_handler)()
    return handler


def _config() -> Any:
    """The app config owns what lives as long as the process, so that the rooms below find it without importing us."""
    return apps.get_app_config("django_apcore")
