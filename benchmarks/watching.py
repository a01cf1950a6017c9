"""What it costs that calls are counted, that errors are remembered, and that toggles and rules are up to date."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from apcore import ACL, Executor, Registry
from apcore.app import build_app
from apcore.errors import ModuleError
from apcore.events import EventEmitter
from apcore.middleware.builtin.error_history import ErrorHistoryMiddleware
from apcore.middleware.builtin.platform_notify import PlatformNotifyMiddleware
from apcore.middleware.builtin.usage import UsageMiddleware
from apcore.telemetry.error_history import ErrorHistory
from apcore.telemetry.usage import UsageCollector
from benchmarks.calls import add
from benchmarks.observing import QuietLog
from benchmarks.timing import Measurement, Settings, seconds_of_each
from django_apcore import runtime
from django_apcore.stores import DatabaseACL, DatabaseToggles

ALONE: Final = "call, nobody watches"
FAILING: Final = "failing call, nobody watches"
FRESH_SECONDS: Final = 1e-6
"""What asking whether a snapshot is stale may cost."""


def cases(settings: Settings) -> Iterator[Measurement]:
    inputs, wrong = {"a": 1, "b": 2}, {"a": 1}

    def measured(name: str, function: Callable[[], object], base: str = "", target: float | None = None) -> Measurement:
        return Measurement(name, seconds_of_each({name: function}, settings)[name], base, target)

    plain, counted, watched, told = (make_executor(*names) for names in ((), ("usage",), WATCHED, (*WATCHED, "notify")))
    yield measured(ALONE, lambda: plain.call("bench.add", inputs))
    yield measured("call, usage", lambda: counted.call("bench.add", inputs), ALONE)
    yield measured("call, usage and error history", lambda: watched.call("bench.add", inputs), ALONE)
    yield measured("call, usage, errors and thresholds", lambda: told.call("bench.add", inputs), ALONE)
    yield measured(FAILING, lambda: failing(plain, wrong))
    yield measured("failing call, usage and error history", lambda: failing(watched, wrong), FAILING)

    yield from default_sets(settings)

    usage = UsageCollector()
    yield measured("one call counted", lambda: usage.record("bench.add", caller_type="user", duration_ms=1.5))
    toggles, acl = DatabaseToggles(), DatabaseACL()
    toggles.refresh()
    acl.refresh()
    yield measured("are the toggles stale?", lambda: toggles.is_stale, target=FRESH_SECONDS)
    yield measured("are the rules stale?", lambda: acl.is_stale, target=FRESH_SECONDS)


def default_sets(settings: Settings) -> Iterator[Measurement]:
    """What an app puts around each call unless it is told otherwise: the core's, and that of a Django project.

    Compared with an executor of the same access list that has no middleware. The log goes nowhere.
    """
    inputs, acl = {"a": 1, "b": 2}, ACL([], default_effect="allow")
    registry = Registry()
    registry.register(add.id, add)
    alone = Executor(registry, acl=acl)
    app = build_app(registry=registry, acl=acl, config={"version": "1.0.0", "project": {"name": "bench"}})
    project = runtime.build(acl=acl, registry=Registry())
    project.registry.register(add.id, add)
    functions: dict[str, Callable[[], object]] = {
        BARE: lambda: alone.call("bench.add", inputs),
        "call, build_app(config)": lambda: app.executor.call("bench.add", inputs),
        "call, Django project": lambda: project.executor.call("bench.add", inputs),
    }
    with QuietLog():
        for name, seconds in seconds_of_each(functions, settings).items():
            yield Measurement(name, seconds, "" if name == BARE else BARE)


BARE: Final = "call, no middleware, access list"
WATCHED: Final = ("usage", "errors")


def make_executor(*watchers: str) -> Executor:
    registry = Registry()
    registry.register(add.id, add)
    made: dict[str, Callable[[], Any]] = {
        "usage": lambda: UsageMiddleware(UsageCollector()),
        "errors": lambda: ErrorHistoryMiddleware(ErrorHistory(), registry),
        "notify": lambda: PlatformNotifyMiddleware(EventEmitter()),
    }
    return Executor(registry, middlewares=[made[name]() for name in watchers])


def failing(executor: Executor, inputs: dict[str, Any]) -> None:
    try:
        executor.call("bench.add", inputs)
    except ModuleError:
        return
    raise AssertionError("the call should have failed")
