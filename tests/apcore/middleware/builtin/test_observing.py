from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from apcore import Executor, Registry, module
from apcore.middleware.builtin.observing import SwitchedOff, make_metrics, make_tracing, observing
from apcore.telemetry.metrics import CALLS
from apcore.telemetry.settings import ObservabilitySettings


@module(id="m.one")
def one() -> int:
    """Be one."""
    return 1


def executor_after(**values: object) -> tuple[Executor, ObservabilitySettings]:
    settings = ObservabilitySettings.from_mapping(values)
    registry = Registry()
    registry.register("m.one", one)
    parts = observing(settings, tracing=make_tracing(settings), metrics=make_metrics(settings))
    return Executor(registry, middlewares=parts), settings


@pytest.mark.req("R-11.4-02")
@pytest.mark.parametrize(
    "values", [{}, {"enabled": False}, {"tracing": {"enabled": True}, "metrics": {"enabled": True}}]
)
def test_the_four_are_listed_with_their_priorities_whatever_is_on(values):
    executor, _ = executor_after(**values)
    listed = [(entry.id, entry.priority) for entry in executor.middleware]
    assert listed == [("tracing", 950), ("logging", 900), ("metrics", 890), ("error_wrapper", 800)]


def test_what_is_switched_off_is_not_passed():
    executor, _ = executor_after(logging={"enabled": False})
    kinds = [type(entry.middleware) for entry in executor.middleware]
    assert kinds[:3] == [SwitchedOff] * 3
    assert executor.call("m.one") == {"result": 1}
    seen: list[object] = []
    executor.hook_step("execute", before=lambda state: seen.append(state.passage))
    executor.call("m.one")
    assert seen == [None]


@pytest.mark.parametrize(
    ("values", "traces", "counts"),
    [
        ({}, False, False),
        ({"tracing": {"enabled": True}, "metrics": {"enabled": True}}, True, True),
        ({"enabled": False, "tracing": {"enabled": True}, "metrics": {"enabled": True}}, False, False),
        ({"tracing": {"enabled": True, "sampling_rate": 0}}, False, False),
    ],
)
def test_the_switches(values, traces, counts):
    settings = ObservabilitySettings.from_mapping(values)
    assert (make_tracing(settings) is not None, make_metrics(settings) is not None) == (traces, counts)


def test_what_is_counted():
    settings = ObservabilitySettings.from_mapping({"metrics": {"enabled": True}})
    metrics, registry = make_metrics(settings), Registry()
    registry.register("m.one", one)
    Executor(registry, middlewares=observing(settings, metrics=metrics)).call("m.one")
    assert metrics.value(CALLS, {"module_id": "m.one", "status": "success"}) == 1


def test_who_switches_nothing_on_imports_neither_library():
    code = (
        "import sys, apcore\n"
        "from apcore.middleware.builtin.observing import observing\n"
        "from apcore.telemetry.settings import ObservabilitySettings\n"
        "apcore.Executor(apcore.Registry(), middlewares=observing(ObservabilitySettings()))\n"
        "print(sorted(name for name in sys.modules if name in ('opentelemetry.trace', 'prometheus_client')))"
    )
    root = Path(__file__).parents[4]
    shown = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
