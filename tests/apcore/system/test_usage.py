import pytest

from apcore.errors import InvalidInputError, ModuleNotFoundError


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
