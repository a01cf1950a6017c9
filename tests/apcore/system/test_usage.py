from contextlib import suppress

import pytest

from apcore import ACL, ErrorHistory, ErrorHistoryMiddleware, Registry, build_app
from apcore.errors import InvalidInputError, ModuleExecuteError, ModuleNotFoundError, SchemaValidationError
from apcore.middleware.configuration import MiddlewareSettings
from apcore.system import register_sys_modules
from tests.apcore.system.conftest import Module


@pytest.mark.req("R-6.7-05", "R-10.4-03")
def test_the_summary_has_the_figures_of_the_collector(app, record):
    record(app, "math.add", calls=3, errors=1, ms=5.0)
    record(app, "a.gone", calls=1, ms=25.0)

    output = app.executor.call("system.usage.summary", {"period": "2d"})

    assert (output["total_calls"], output["total_errors"], output["avg_latency_ms"]) == (5, 1, 9.0)
    assert output["hours"] == 48
    assert [(each["module_id"], each["call_count"]) for each in output["modules"]] == [("math.add", 4), ("a.gone", 1)]
    collected = app.usage.summary(48).to_dict()
    assert output["modules"] == collected["modules"]


@pytest.mark.req("R-6.7-06", "R-6.7-01", "R-10.4-02")
def test_an_app_that_nobody_configured_counts_from_the_registration_on():
    app = build_app()
    app.registry.register("math.add", Module)
    app.executor.call("math.add", {"n": 1})
    register_sys_modules(app, {"enabled": True})
    for inputs in ({"n": 1}, {"n": 2}, {}):
        with suppress(SchemaValidationError):
            app.executor.call("math.add", inputs)

    output = app.executor.call("system.usage.module", {"module_id": "math.add"})
    health = app.executor.call("system.health.module", {"module_id": "math.add"})

    assert (output["call_count"], output["error_count"]) == (3, 1)
    assert (health["status"], [each["code"] for each in health["recent_errors"]]) == (
        "healthy",
        ["SCHEMA_VALIDATION_ERROR"],
    )


@pytest.mark.req("R-9.15.3-05", "R-9.15.3-03", "R-9.16.2-06")
@pytest.mark.parametrize(
    ("events", "told"),
    [({}, 1), ({"enabled": False}, 0), ({"thresholds": {"error_rate": 1.0}}, 0)],
)
def test_an_app_that_nobody_configured_tells_of_modules_that_fall_ill(events, told):
    class Failing(Module):
        def execute(self, inputs, context):
            raise OSError

    app, heard = build_app(), []
    app.events.subscribe(heard.append, types=["apcore.health.*"])
    app.registry.register("math.add", Failing)
    register_sys_modules(app, {"enabled": True, "events": events})
    with suppress(ModuleExecuteError):
        app.executor.call("math.add", {"n": 1})

    assert [event.type for event in heard] == ["apcore.health.error_threshold_exceeded"] * told


@pytest.mark.req("R-11.4-03")
@pytest.mark.parametrize("disabling", ["config", "middleware"])
def test_who_disabled_counting_is_not_counted(disabling):
    disabled = {"disabled": ["usage"]}
    how = {"config": {"middleware": disabled}, "middleware": MiddlewareSettings.read(disabled)}
    app = build_app(acl=ACL([], "allow"), **{disabling: how[disabling]})
    app.registry.register("math.add", Module)
    register_sys_modules(app, {"enabled": True})
    app.executor.call("math.add", {"n": 1})
    assert app.executor.call("system.usage.module", {"module_id": "math.add"})["call_count"] == 0


def test_what_counts_already_is_left_in_place():
    app = build_app(middlewares=[ErrorHistoryMiddleware(ErrorHistory(), Registry())])
    register_sys_modules(app, {"enabled": True})
    register_sys_modules(app, {"enabled": False})
    watching = [entry.id for entry in app.executor.middleware if entry.id in ("error_history", "usage")]
    assert sorted(watching) == ["error_history", "usage"]


@pytest.mark.req("R-6.7-06", "R-10.4-03")
def test_one_module_has_its_own_figures(app, record):
    record(app, "math.add", calls=3, errors=1)
    record(app, "a.other", calls=7)

    output = app.executor.call("system.usage.module", {"module_id": "math.add"})

    assert (output["call_count"], output["error_count"], output["error_rate"]) == (4, 1, 0.25)
    assert output["callers"]["user"]["call_count"] == 4
    assert [each["call_count"] for each in output["trend"]] == [4]
    assert output == {"period": "24h", **app.usage.module("math.add").to_dict()}


def test_a_module_that_does_not_exist_is_not_found(app):
    with pytest.raises(ModuleNotFoundError):
        app.executor.call("system.usage.module", {"module_id": "a.gone"})


def test_a_period_beyond_what_is_kept_is_refused(app):
    with pytest.raises(InvalidInputError, match="hours"):
        app.executor.call("system.usage.summary", {"period": "9999d"})
