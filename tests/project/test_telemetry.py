"""When the reference project traces."""

import os
import subprocess
import sys

import pytest

from project import telemetry

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, False),
        ({ENDPOINT: ""}, False),
        ({ENDPOINT: "http://localhost:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://localhost:4318/v1/traces"}, True),
        ({ENDPOINT: "http://localhost:4318", "OTEL_SDK_DISABLED": "true"}, False),
    ],
)
def test_it_is_wanted_where_a_collector_is_named(monkeypatch, environment, wanted):
    for name in (ENDPOINT, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_SDK_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert telemetry.is_wanted() is wanted


def test_without_a_collector_nothing_is_even_imported():
    code = (
        "import sys; from project import telemetry; print(telemetry.start(), 'opentelemetry.sdk.trace' in sys.modules)"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
