"""What it costs that calls are counted, that errors are remembered, and that toggles and rules are up to date."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from apcore import Executor, Registry
from apcore.errors import ModuleError
from apcore.events import EventEmitter
from apcore.middleware.builtin.error_history import ErrorHistoryMiddleware
from apcore.middleware.builtin.platform_notify import PlatformNotifyMiddleware
from apcore.middleware.builtin.usage import UsageMiddleware
from apcore.telemetry.error_history import ErrorHistory
from apcore.telemetry.usage import UsageCollector
from benchmarks.calls import add
from benchmarks.timing import Measurement, Settings, seconds_per_call
from django_apcore.stores import DatabaseACL, DatabaseToggles

ALONE: Final = "call, nobody watches"
FAILING: Final = "failing call, nobody watches"
FRESH_SECONDS: Final = 1e-6
"""What asking whether a snapshot is stale may cost."""


def cases(settings: Settings) -> Iterator[Measurement]:
    inputs, wrong = {"a": 1, "b": 2}, {"a": 1}

    def measured(name: str, function: Callable[[], object], base: str = "", target: float | None = None) -> Measurement:
        return Measurement(name, seconds_per_call(function, settings), base, target)

    plain, counted, watched, told = (make_executor(*names) for names in ((), ("usage",), WATCHED, (*WATCHED, "notify")))
    yield measured(ALONE, lambda: plain.call("bench.add", inputs))
    yield measured("call, usage", lambda: counted.call("bench.add", inputs), ALONE)
    yield measured("call, usage and error history", lambda: watched.call("bench.add", inputs), ALONE)
    yield measured("call, usage, errors and thresholds", lambda: told.call("bench.add", inputs), ALONE)
    yield measured(FAILING, lambda: failing(plain, wrong))
    yield measured("failing call, usage and error history", lambda: failing(watched, wrong), FAILING)

    usage = UsageCollector()
    yield measured("one call counted", lambda: usage.record("bench.add", caller_type="user", duration_ms=1.5))
    toggles, acl = DatabaseToggles(), DatabaseACL()
    toggles.refresh()
    acl.refresh()
    yield measured("are the toggles stale?", lambda: toggles.is_stale, target=FRESH_SECONDS)
    yield measured("are the rules stale?", lambda: acl.is_stale, target=FRESH_SECONDS)


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
