from __future__ import annotations

import logging

import pytest

from apcore import module
from apcore.app import build_app
from apcore.errors import ConfigError
from apcore.telemetry import export
from apcore.telemetry.metrics import CALLS
from apcore.telemetry.settings import ObservabilitySettings

NAMED = {"apcore": {"version": "1.0.0", "project": {"name": "p"}, "acl": {"default_effect": "allow"}}}


@module(id="m.one")
def one() -> int:
    """Be one."""
    return 1


def app_after(observability: dict[str, object], **parts: object):
    app = build_app(config={**NAMED, "observability": observability}, **parts)
    app.registry.register("m.one", one)
    return app


def test_without_a_configuration_nothing_is_traced_and_nothing_counted():
    app = build_app()
    assert (app.tracing, app.metrics) == (None, None)
    assert [entry.id for entry in app.executor.middleware][:4] == ["tracing", "logging", "metrics", "error_wrapper"]


@pytest.mark.req("R-9.15.2-02", "R-9.15.2-03")
def test_in_namespace_mode_both_are_off_by_default():
    app = app_after({})
    assert (app.tracing, app.metrics) == (None, None)


def test_what_the_configuration_switches_on(exporter, sdk):
    app = app_after({"tracing": {"enabled": True}, "metrics": {"enabled": True}}, tracer_provider=sdk)
    app.executor.call("m.one")
    assert app.metrics.value(CALLS, {"module_id": "m.one", "status": "success"}) == 1
    assert "apcore.module.execute" in {span.name for span in exporter.get_finished_spans()}


@pytest.mark.req("R-10.8-01", "R-10.8-02")
def test_discovery_has_its_span(exporter, sdk, tmp_path):
    app = app_after({"tracing": {"enabled": True}}, tracer_provider=sdk)
    app.registry.discover(str(tmp_path))
    with pytest.raises(ConfigError):
        app.registry.discover(str(tmp_path / "nowhere"))
    good, bad = (span for span in exporter.get_finished_spans() if span.name == "apcore.registry.discover")
    assert (good.attributes["module_id"], good.attributes["method"], good.attributes["success"]) == (
        "*",
        "describe",
        True,
    )
    assert type(good.attributes["duration_ms"]) is float
    assert (bad.attributes["success"], bad.attributes["error_code"]) == (False, "CONFIG_INVALID")


def test_an_old_file_that_says_nothing_of_spans_prints_none(capsys):
    app = build_app(config={"version": "1.0.0", "project": {"name": "p"}, "acl": {"default_effect": "allow"}})
    app.registry.register("m.one", one)
    app.executor.call("m.one")
    assert capsys.readouterr().out == ""
    assert app.metrics.value(CALLS, {"module_id": "m.one", "status": "success"}) == 1


def test_that_spans_cannot_be_exported_is_said_once_and_ends_no_call(monkeypatch, caplog):
    def missing(name: str):
        raise ImportError(name)

    app = app_after({"tracing": {"enabled": True}})
    monkeypatch.setattr(export, "import_module", missing)
    with caplog.at_level(logging.WARNING, "apcore.telemetry"):
        assert [app.executor.call("m.one") for _ in range(2)] == [{"result": 1}] * 2
    assert [record.getMessage() for record in caplog.records if "not traced" in record.getMessage()] != []
    assert len([record for record in caplog.records if "not traced" in record.getMessage()]) == 1


def test_settings_of_code_win(sdk):
    app = build_app(observability=ObservabilitySettings.from_mapping({"metrics": {"enabled": True}}))
    assert app.metrics is not None
    assert app.tracing is None
