"""Reading the settings of an executor (§9.1.1)."""

import logging
import threading
import time
from typing import Any

import pytest

from apcore import Config, Context, module
from apcore.errors import (
    CallDepthExceededError,
    CallFrequencyExceededError,
    ConfigError,
    InvalidInputError,
    ModuleExecuteError,
    ModuleTimeoutError,
)
from apcore.execution import Executor, ExecutorSettings
from apcore.registry import Registry


@pytest.mark.parametrize("values", [3, "apcore.yaml", ["default_timeout"], None])
def test_what_is_no_mapping_is_refused(values: Any) -> None:
    with pytest.raises(ConfigError, match="are a mapping, not"):
        ExecutorSettings.from_mapping(values)


# -- other limits while calls are made --------------------------------------------------------------------------------

WIDE = ExecutorSettings()


@module(id="probe.nested")
def nested(depth: int, context: Context) -> dict[str, int]:
    """Call itself."""
    return dict(context.executor.call("probe.nested", {"depth": depth - 1}, context)) if depth else {"depth": 0}


@module(id="probe.stuck")
def stuck(context: Context) -> dict[str, int]:
    """Wait until somebody says that it is too late."""
    while True:
        time.sleep(0.01)
        context.cancel_token.check()


class Chunks:
    """Give four kilobytes in chunks."""

    description = "Gives four kilobytes in chunks"
    input_schema = {"type": "object"}
    output_schema = {"type": "object"}

    def execute(self, inputs: Any, context: Context) -> dict[str, Any]:
        return {}

    def stream(self, inputs: Any, context: Context) -> Any:
        for number in range(4):
            yield {str(number): "x" * 1024}


@pytest.fixture
def probes() -> Executor:
    registry = Registry()
    registry.register("probe.nested", nested)
    registry.register("probe.stuck", stuck)
    registry.register("probe.chunks", Chunks)
    return Executor(registry)


def test_other_limits_hold_for_every_call_that_begins_later(probes: Executor) -> None:
    assert probes.call("probe.nested", {"depth": 2}) == {"depth": 0}
    probes.use_settings(ExecutorSettings(max_module_repeat=2))
    with pytest.raises(CallFrequencyExceededError):
        probes.call("probe.nested", {"depth": 2})
    probes.use_settings(ExecutorSettings(max_call_depth=2))
    with pytest.raises(CallDepthExceededError):
        probes.call("probe.nested", {"depth": 2})
    probes.use_settings(ExecutorSettings(max_stream_bytes=100))
    with pytest.raises(ModuleExecuteError):
        list(probes.stream_sync("probe.chunks", {}))
    probes.use_settings(WIDE)
    assert probes.call("probe.nested", {"depth": 2}) == {"depth": 0}
    assert len(list(probes.stream_sync("probe.chunks", {}))) == 4


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (ExecutorSettings(default_timeout=20, grace_period=1), "executor.default_timeout = 20 ms"),
        (ExecutorSettings(global_timeout=20, grace_period=1), "executor.global_timeout = 20 ms"),
    ],
)
def test_other_deadlines_hold_and_the_log_names_them(
    probes: Executor, settings: ExecutorSettings, named: str, caplog: pytest.LogCaptureFixture
) -> None:
    @module(id="probe.deaf")
    def deaf() -> dict[str, int]:
        """Listen to nobody."""
        while True:
            pass

    probes.registry.register("probe.deaf", deaf)
    probes.use_settings(settings)
    with caplog.at_level(logging.WARNING), pytest.raises(ModuleTimeoutError):
        probes.call("probe.deaf", {})
    assert named in caplog.text


def test_a_call_that_runs_keeps_its_deadline(probes: Executor) -> None:
    probes.use_settings(ExecutorSettings(default_timeout=300))
    begun = threading.Event()

    @module(id="probe.waits")
    def waits(context: Context) -> dict[str, int]:
        """Begin, and wait."""
        begun.set()
        return dict(stuck(context=context))

    probes.registry.register("probe.waits", waits)
    failures: list[BaseException] = []

    def call() -> None:
        try:
            probes.call("probe.waits", {})
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            failures.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    assert begun.wait(20)
    probes.use_settings(WIDE)
    thread.join(20)
    assert [type(error) for error in failures] == [ModuleTimeoutError]


def test_limits_are_limits(probes: Executor) -> None:
    with pytest.raises(InvalidInputError, match="ExecutorSettings"):
        probes.use_settings({"default_timeout": 3})  # type: ignore[arg-type]  # what is wrong here
    assert probes.settings == WIDE


def test_an_executor_follows_a_configuration(probes: Executor, caplog: pytest.LogCaptureFixture) -> None:
    config = Config.from_dict({"executor": {"max_call_depth": 7}})
    probes.follow(config)
    probes.follow(config)
    config.set("executor.default_timeout", 1234)
    assert probes.settings == ExecutorSettings(max_call_depth=7, default_timeout=1234)
    config.reload()
    assert probes.settings == ExecutorSettings(max_call_depth=7)
    config.set("executor.max_call_depth", 0)  # nobody asked for a validation
    assert probes.settings == ExecutorSettings(max_call_depth=7)
    assert "The limits of calls stay as they were: executor.max_call_depth must be" in caplog.text
