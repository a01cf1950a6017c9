"""The events of crossed thresholds."""

from typing import Any

import pytest

from apcore import ACL, Config, Context, EventEmitter, module
from apcore.app import App
from apcore.approval import ApprovalResult
from apcore.errors import ApprovalPendingError, InvalidInputError, ModuleError
from apcore.events import Event
from apcore.middleware.builtin.platform_notify import PlatformNotifyMiddleware
from apcore.telemetry.health import HealthThresholds
from apcore.testing import app_with


@module(id="t.plain")
def plain(fail: bool = False) -> dict[str, Any]:
    """Succeed or fail."""
    if fail:
        raise ModuleError("no")
    return {}


def make(heard: list[Event], **thresholds: Any) -> App:
    events = EventEmitter()
    events.subscribe(heard.append, types=["apcore.health.*"])
    middleware = PlatformNotifyMiddleware(events, HealthThresholds(**thresholds))
    return app_with(plain, middlewares=[middleware], events=events)


def call(app: App, *, fail: bool = False, times: int = 1, context: Context | None = None) -> None:
    for _ in range(times):
        try:
            app.executor.call("t.plain", {"fail": fail}, context)
        except ModuleError:
            assert fail


@pytest.mark.req("R-9.16.2-06")
def test_an_error_rate_above_the_threshold_is_told_once() -> None:
    heard: list[Event] = []
    app = make(heard)
    call(app, times=18)
    call(app, fail=True, times=2)
    assert heard == []
    call(app, fail=True, times=5)
    [event] = heard
    assert (event.type, event.severity) == ("apcore.health.error_threshold_exceeded", "error")
    assert dict(event.data) == {"module_id": "t.plain", "error_rate": 3 / 21, "threshold": 0.1}


@pytest.mark.req("R-9.16.2-07")
def test_a_latency_above_the_threshold_is_told_once() -> None:
    heard: list[Event] = []
    app = make(heard, latency_p99_ms=0)
    call(app, times=5)
    [event] = heard
    assert (event.type, event.severity) == ("apcore.health.latency_threshold_exceeded", "warn")
    assert set(event.data) == {"module_id", "p99_latency_ms", "threshold"}
    assert event.data["p99_latency_ms"] > event.data["threshold"] == 0


@pytest.mark.req("R-9.16.2-08")
def test_recovery_is_told_once() -> None:
    heard: list[Event] = []
    app = make(heard)
    call(app, fail=True)
    call(app, times=100)
    assert [event.type for event in heard] == [
        "apcore.health.error_threshold_exceeded",
        "apcore.health.recovered",
    ]
    assert heard[1].severity == "info"
    assert dict(heard[1].data) == {"module_id": "t.plain", "error_rate": 1 / 21}


def test_the_event_names_the_trace_of_the_call_that_crossed() -> None:
    heard: list[Event] = []
    context = Context.create()
    call(make(heard), fail=True, context=context)
    assert heard[0].trace_id == context.trace_id


def test_what_the_module_has_no_part_in_alarms_nobody() -> None:
    @module(id="t.waiting")
    def waiting() -> dict[str, Any]:
        """Have somebody decide."""
        raise ApprovalPendingError(ApprovalResult("pending", approval_id="a-1"))

    @module(id="t.careless")
    def careless(context: Context) -> dict[str, Any]:
        """Call another one with inputs that it does not take."""
        return context.executor.call("t.plain", {"fail": "yes"}, context)

    @module(id="t.strict")
    def strict() -> dict[str, Any]:
        """Refuse whatever it is given."""
        raise InvalidInputError("There is no such shelf")

    heard: list[Event] = []
    app = make(heard)
    app.registry.register("t.waiting", waiting)
    app.registry.register("t.careless", careless)
    for module_id, inputs in (("t.plain", {"fail": "yes"}), ("t.waiting", {}), ("t.plain", {"unknown": 1})):
        with pytest.raises(ModuleError):
            app.executor.call(module_id, inputs)
    assert heard == []
    app.registry.register("t.strict", strict)
    with pytest.raises(InvalidInputError):
        app.executor.call("t.strict", {})
    assert heard == []
    with pytest.raises(ModuleError):
        app.executor.call("t.careless", {})
    assert [event.data["module_id"] for event in heard] == ["t.careless"]


def test_a_rehearsal_alarms_nobody() -> None:
    heard: list[Event] = []
    call(make(heard), fail=True, times=5, context=Context.create().rehearsal())
    assert heard == []


def test_a_subscriber_that_fails_does_not_disturb_the_call() -> None:
    events = EventEmitter()

    def fail(event: Event) -> None:
        raise RuntimeError

    events.subscribe(fail)
    app = app_with(plain, middlewares=[PlatformNotifyMiddleware(events, HealthThresholds(latency_p99_ms=0))])
    assert app.executor.call("t.plain", {}) == {}


@pytest.mark.req("R-9.15.3-05")
@pytest.mark.parametrize(
    ("sections", "told"),
    [
        ({}, 0),  # without system modules nobody watches unless asked to
        ({"sys_modules": {"enabled": True}}, 1),
        ({"sys_modules": {"enabled": True, "events": {"enabled": False}}}, 0),
        ({"sys_modules": {"enabled": True, "events": {"thresholds": {"error_rate": 1.0}}}}, 0),
        ({"observability": {"platform_notify": {"enabled": True}}}, 1),
        ({"observability": {"platform_notify": {"enabled": True, "error_rate_threshold": 1.0}}}, 0),
    ],
)
def test_the_configuration_says_whether_and_when_somebody_is_told(sections: dict[str, Any], told: int) -> None:
    whole = {"apcore": {"extensions": {"auto_discover": False}}, "sys_modules": {"enabled": False}, **sections}
    heard: list[Event] = []
    app = app_with(plain, config=Config.from_dict(whole), acl=ACL([], default_effect="allow"))
    app.events.subscribe(heard.append, types=["apcore.health.*"])
    call(app, fail=True, times=3)
    assert len(heard) == told
