from contextlib import suppress

import pytest

from apcore import module
from apcore.errors import InvalidInputError, ModuleError, ModuleNotFoundError, SchemaValidationError


def summary(app, **inputs):
    output = app.executor.call("system.health.summary", inputs)
    return output["summary"], {each["module_id"]: each for each in output["modules"]}


@pytest.mark.req("R-6.7-01")
def test_modules_are_counted_by_how_they_are_doing(app, record):
    for name in ("good", "bad", "meh", "slow", "off"):
        app.registry.register(f"a.{name}", app.registry.get("math.add"))
    record(app, "a.good", calls=200, errors=1)
    record(app, "a.bad", calls=8, errors=2)
    record(app, "a.meh", calls=95, errors=5)
    record(app, "a.slow", calls=1, ms=6000.0)
    app.toggles.set("a.off", False)

    counts, modules = summary(app)

    assert counts == {"total_modules": 15, "healthy": 1, "degraded": 2, "error": 1, "unknown": 10, "disabled": 1}
    assert {name: each["status"] for name, each in modules.items() if name.startswith("a.")} == {
        "a.good": "healthy",
        "a.bad": "error",
        "a.meh": "degraded",
        "a.slow": "degraded",
        "a.off": "disabled",
    }
    bad = modules["a.bad"]
    assert (bad["call_count"], bad["error_count"], bad["error_rate"]) == (10, 2, 0.2)
    assert bad["top_error"]["code"] == "MODULE_EXECUTE_ERROR"
    assert bad["top_error"]["count"] == 2
    assert modules["math.add"]["error_rate"] is None


@module(id="a.shelf")
def shelf(number: int) -> dict[str, int]:
    """Look at a shelf."""
    if number < 0:
        raise InvalidInputError("There is no such shelf")
    if number == 13:
        raise ModuleError("The shelf fell down")
    return {"count": "many"} if number == 14 else {"count": number}


@pytest.mark.req("R-6.7-01")
@pytest.mark.req("R-6.7-02")
def test_no_caller_alone_can_make_a_module_ill(app):
    app.registry.register("a.shelf", shelf)

    def call(number, times=1):
        for _ in range(times):
            with suppress(ModuleError):
                app.executor.call("a.shelf", {"number": number})
        figures = app.executor.call("system.health.module", {"module_id": "a.shelf"})
        entry = summary(app)[1]["a.shelf"]
        assert all(figures[name] == entry[name] for name in ("status", "error_rate", "fault_count", "fault_rate"))
        return figures["status"], figures["error_count"], figures["fault_count"], figures["fault_rate"]

    assert call("one", times=10) == ("unknown", 10, 0, None)
    assert call(-1, times=10) == ("unknown", 20, 0, None)
    assert call(2) == ("healthy", 20, 0, 0.0)
    assert call(13) == ("error", 21, 1, 0.5)
    assert call(14) == ("error", 22, 2, 0.666667)
    assert app.executor.call("system.usage.module", {"module_id": "a.shelf"})["error_rate"] == 0.956522


def test_healthy_ones_may_be_left_out_and_are_counted_all_the_same(app, record):
    record(app, "math.add", calls=3)
    counts, modules = summary(app, include_healthy=False)
    assert counts["healthy"] == 1
    assert "math.add" not in modules


def test_the_host_may_say_how_it_is_doing_itself(make_app):
    told = {"status": "warn", "at": "2026-01-01T00:00:00+00:00", "checks": []}
    app = make_app(check_installation=lambda: told)
    assert app.executor.call("system.health.summary", {})["installation"] == told
    assert app.executor.call("system.health.summary", {"include_installation": False})["installation"] is None
    assert make_app().executor.call("system.health.summary", {})["installation"] is None


@pytest.mark.req("R-9.15.3-03")
def test_the_thresholds_are_those_of_the_settings(make_app, record):
    thresholds = {"error_rate": 0.5, "latency_p99_ms": 5.0}
    app = make_app({"enabled": True, "events": {"thresholds": thresholds}})
    record(app, "math.add", calls=1, errors=1)
    _counts, modules = summary(app, error_rate_threshold=0.5)
    assert modules["math.add"]["status"] == "degraded"  # too slow; half of the calls may fail

    record(app, "math.add", errors=1)
    _counts, modules = summary(app)
    assert modules["math.add"]["status"] == "error"


@pytest.mark.req("R-6.7-02")
def test_one_module_has_its_latencies_and_its_latest_errors(app, record):
    record(app, "math.add", calls=3, errors=1, ms=20.0)
    output = app.executor.call("system.health.module", {"module_id": "math.add"})

    assert (output["total_calls"], output["error_count"], output["error_rate"]) == (4, 1, 0.25)
    assert output["status"] == "error"
    assert output["avg_latency_ms"] == 20.0
    assert output["p50_latency_ms"] == pytest.approx(20.0, rel=0.05)
    assert output["p99_latency_ms"] == pytest.approx(20.0, rel=0.05)
    [error] = output["recent_errors"]
    assert (error["code"], error["count"], error["trace_id"]) == ("MODULE_EXECUTE_ERROR", 1, "a" * 32)
    assert "negative" not in str(output)

    without = app.executor.call("system.health.module", {"module_id": "math.add", "error_limit": 0})
    assert without["recent_errors"] == []


def test_a_module_that_does_not_exist_is_not_found(app):
    with pytest.raises(ModuleNotFoundError):
        app.executor.call("system.health.module", {"module_id": "no.such"})


@pytest.mark.parametrize("period", ["", "24", "0h", "1w", "-1h", "24h "])
def test_a_period_is_hours_or_days(app, period):
    with pytest.raises(SchemaValidationError):
        app.executor.call("system.health.summary", {"period": period})
