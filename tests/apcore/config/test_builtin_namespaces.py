"""What the framework registers for itself (§9.15)."""

import pytest

from apcore import Config
from apcore.redaction import DEFAULT_SENSITIVE_KEYS


@pytest.fixture
def namespaces():
    """A configuration in namespace mode that gives no value."""
    return Config.from_dict({"apcore": {}})


@pytest.mark.req("R-9.15.1-01", "R-9.9.4-01", "R-9.15.2-01")
def test_the_framework_registers_its_own_namespaces_at_import():
    found = {each["name"]: each for each in Config.registered_namespaces()}

    assert {name: each["env_prefix"] for name, each in found.items()} == {
        "apcore": "APCORE",
        "observability": "APCORE_OBSERVABILITY",
        "sys_modules": "APCORE_SYS",
    }
    assert all(each["has_schema"] for each in found.values())


@pytest.mark.req("R-9.15.2-02", "R-9.15.2-03", "R-9.15.2-04", "R-9.15.2-06")
def test_defaults_of_observability(namespaces):
    data = namespaces.namespace("observability")

    assert data["tracing"] == {
        "enabled": False,
        "strategy": "full",
        "sampling_rate": 1.0,
        "exporter": "stdout",
        "otlp_endpoint": None,
    }
    assert data["metrics"] == {"enabled": False, "exporter": "stdout"}
    assert data["logging"] == {"enabled": True, "level": "info", "format": "json", "redact_sensitive": True}
    assert data["platform_notify"] == {
        "enabled": False,
        "error_rate_threshold": 0.1,
        "latency_p99_threshold_ms": 5000.0,
    }
    assert data["error_history"] == {"max_entries_per_module": 50, "max_total_entries": 1000}
    assert set(data["redaction"]["sensitive_keys"]) == DEFAULT_SENSITIVE_KEYS


@pytest.mark.req("R-9.15.3-01")
def test_defaults_of_sys_modules(namespaces):
    assert namespaces.namespace("sys_modules") == {
        "enabled": True,
        "health": {"enabled": True},
        "manifest": {"enabled": True},
        "usage": {"enabled": True, "retention_hours": 168, "bucketing_strategy": "hourly"},
        "control": {"enabled": True},
        "events": {"enabled": True, "thresholds": {"error_rate": 0.1, "latency_p99_ms": 5000.0}},
    }


@pytest.mark.req("R-6.6.3-02")
def test_system_modules_are_off_in_legacy_mode():
    assert Config.from_defaults().namespace("sys_modules")["enabled"] is False


@pytest.mark.req("R-9.15.2-09", "R-9.15.3-06")
def test_the_documented_variables(monkeypatch):
    for name, value in {
        "APCORE_OBSERVABILITY_TRACING_STRATEGY": "error_first",
        "APCORE_OBSERVABILITY_LOGGING_LEVEL": "debug",
        "APCORE_OBSERVABILITY_METRICS_EXPORTER": "prometheus",
        "APCORE_SYS_ENABLED": "false",
        "APCORE_SYS_USAGE_RETENTION__HOURS": "336",
        "APCORE_SYS_EVENTS_ENABLED": "false",
    }.items():
        monkeypatch.setenv(name, value)

    for config in (Config.from_dict({"apcore": {}}), Config.from_defaults()):
        observability, system = config.namespace("observability"), config.namespace("sys_modules")
        assert observability["tracing"]["strategy"] == "error_first"
        assert observability["metrics"]["exporter"] == "prometheus"
        assert (system["enabled"], system["usage"]["retention_hours"], system["events"]["enabled"]) == (
            False,
            336,
            False,
        )
    assert Config.from_dict({"apcore": {}}).get("observability.logging.level") == "debug"


@pytest.mark.req("R-9.15.2-08")
@pytest.mark.parametrize("data", [{}, {"apcore": {}}], ids=["legacy", "namespace"])
def test_the_observability_variables_in_both_modes(monkeypatch, data):
    monkeypatch.setenv("APCORE_OBSERVABILITY_TRACING_SAMPLING_RATE", "0.25")

    config = Config.from_dict(data)

    assert config.get("observability.tracing.sampling_rate") == 0.25
    assert str(config.source("observability.tracing.sampling_rate")) == (
        "environment APCORE_OBSERVABILITY_TRACING_SAMPLING_RATE"
    )


@pytest.mark.req("R-9.15.2-07")
def test_sections_of_apcore_are_found_in_their_namespace():
    config = Config.from_dict(
        {
            "apcore": {
                "observability": {"tracing": {"strategy": "off", "sampling_rate": 0.5}},
                "sys_modules": {"enabled": False},
            },
            "observability": {"tracing": {"strategy": "proportional"}},
        }
    )

    assert config.get("observability.tracing.strategy") == "proportional", "the namespace's own section wins"
    assert config.get("observability.tracing.sampling_rate") == 0.5
    assert config.get("apcore.observability.tracing.sampling_rate") == 0.5
    assert config.get("sys_modules.enabled") is False
