from __future__ import annotations

import pytest

from apcore.errors import ConfigError
from apcore.telemetry.settings import LoggingSettings, MetricsSettings, ObservabilitySettings, TracingSettings


def test_the_defaults_are_those_of_the_namespace():
    assert TracingSettings() == TracingSettings(False, "full", 1.0, "stdout", None)
    assert MetricsSettings() == MetricsSettings(False, "stdout")
    assert LoggingSettings() == LoggingSettings(True, "info", "json", True)
    assert ObservabilitySettings.from_mapping({}) == ObservabilitySettings()


@pytest.mark.parametrize(
    "values",
    [
        {"tracing": {"strategy": "sometimes"}},
        {"tracing": {"sampling_rate": 2}},
        {"tracing": {"sampling_rate": True}},
        {"tracing": {"exporter": "paper"}},
        {"tracing": {"enabled": "yes"}},
        {"tracing": {"endpoint": "x"}},
        {"metrics": {"exporter": "paper"}},
        {"logging": {"level": "loud"}},
        {"logging": {"format": "xml"}},
        {"redaction": {"sensitive_keys": "password"}},
        {"redaction": {"sensitive_keys": [1]}},
    ],
)
def test_what_means_nothing_is_refused_and_named(values):
    [section] = values
    with pytest.raises(ConfigError, match=rf"observability\.{section}"):
        ObservabilitySettings.from_mapping(values)


def test_what_others_own_is_left_alone_and_the_old_name_of_the_strategy_is_known():
    settings = ObservabilitySettings.from_mapping(
        {
            "error_history": {"max_total_entries": 5},
            "tracing": {"enabled": True, "sampling_strategy": "error_first", "sampling_rate": 0.0},
            "redaction": {"sensitive_keys": ["iban"]},
        }
    )
    assert settings.tracing == TracingSettings(True, "error_first", 0.0)
    assert {"iban", "password"} <= settings.sensitive_keys


@pytest.mark.parametrize(
    ("values", "is_on"),
    [
        ({}, False),
        ({"enabled": True}, True),
        ({"enabled": True, "strategy": "off"}, False),
        ({"enabled": True, "sampling_rate": 0.0}, False),
        ({"enabled": True, "strategy": "error_first", "sampling_rate": 0.0}, True),
    ],
)
def test_either_way_of_saying_off_switches_off(values, is_on):
    assert TracingSettings.from_mapping(values).is_on is is_on
