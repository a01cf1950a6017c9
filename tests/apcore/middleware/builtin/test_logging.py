from __future__ import annotations

import asyncio
import io
import json
import logging
from typing import Annotated, Any

import pytest
from pydantic import Field

from apcore import Context, Executor, Registry, module
from apcore.approval import ApprovalResult, CallbackApprovalHandler
from apcore.errors import ModuleError
from apcore.middleware.builtin.logging import LoggingMiddleware
from apcore.modules import ModuleAnnotations
from apcore.redaction import REDACTED_VALUE
from apcore.telemetry import running
from apcore.telemetry.logs import log_handler
from apcore.telemetry.settings import LoggingSettings

Secret = Annotated[str, Field(json_schema_extra={"x-sensitive": True})]


class Answer(dict[str, Any]):
    pass


OUTPUT = {"type": "object", "properties": {"code": {"type": "string", "x-sensitive": True}}}


@module(id="m.vault", output_schema=OUTPUT)
def vault(context: Context, pin: Secret, password: str = "") -> dict[str, Any]:
    """Log what must not be logged, and give it back."""
    logging.getLogger("apcore.tests").info("the pin is %s", pin)
    if password == "jammed":
        raise ModuleError(f"{pin} does not fit", details={"pin": pin})
    return {"code": "from the vault", "echo": pin}


@module(id="m.outer")
def outer(context: Context, pin: Secret) -> dict[str, Any]:
    """Hand the secret on to a module to which it is none."""
    return dict(context.executor.call("m.plain", {"text": f"pin {pin}"}, context))


@module(id="m.plain")
def plain(text: str) -> str:
    """Log a text."""
    logging.getLogger("apcore.tests").info("text: %s", text)
    return text


@module(id="m.gated", annotations=ModuleAnnotations(requires_approval=True))
def gated() -> None:
    """Wait for a person."""


@pytest.fixture
def lines():
    stream, logger = io.StringIO(), logging.getLogger("apcore")
    handler = log_handler(LoggingSettings(level="debug"), stream)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield lambda name="apcore.calls": [
        line for line in map(json.loads, stream.getvalue().splitlines()) if line["extra"]["logger"] == name
    ]
    logger.removeHandler(handler)
    logger.setLevel(level)


@pytest.fixture
def executor() -> Executor:
    registry = Registry()
    for each in (vault, outer, plain, gated):
        registry.register(each.id, each)
    pending = CallbackApprovalHandler(lambda request: ApprovalResult("pending", approval_id="1"))
    return Executor(registry, approval_handler=pending, middlewares=[LoggingMiddleware({"echo"})])


def test_a_call_has_its_line(executor, lines):
    context = Context.create()
    executor.call("m.plain", {"text": "hi"}, context)
    [line] = lines()
    assert line["level"] == "info"
    assert line["message"].startswith("m.plain succeeded in ")
    assert (line["trace_id"], line["module_id"]) == (context.trace_id, "m.plain")
    assert line["extra"]["caller_id"] == "@external"
    assert line["extra"]["duration_ms"] > 0


@pytest.mark.parametrize(
    ("module_id", "inputs", "level", "code"),
    [
        ("m.plain", {"text": 5}, "warn", "SCHEMA_VALIDATION_ERROR"),
        ("m.unknown", {}, "warn", "MODULE_NOT_FOUND"),
        ("m.gated", {}, "info", "APPROVAL_PENDING"),
        ("m.vault", {"pin": "1234-5678", "password": "jammed"}, "error", "MODULE_EXECUTE_ERROR"),
    ],
)
def test_how_a_failure_is_told(executor, lines, module_id, inputs, level, code):
    with pytest.raises(ModuleError):
        executor.call(module_id, inputs)
    line = lines()[-1]
    assert (line["level"], line["extra"]["error_code"]) == (level, code)
    assert line["module_id"] == (None if module_id == "m.unknown" else module_id)
    assert "m.unknown" not in json.dumps(line)
    assert (line["extra"]["inputs"] is None) == (module_id == "m.unknown")  # nobody says what is sensitive in them


@pytest.mark.req("R-10.2-03", "R-10.6-01", "R-10.6-07")
def test_inputs_and_output_are_shown_without_their_secrets(executor, lines):
    executor.call("m.vault", {"pin": "1234-5678", "password": "hunter2"})
    [line] = lines()
    assert line["extra"]["inputs"] == {"pin": REDACTED_VALUE, "password": REDACTED_VALUE}
    assert line["extra"]["output"] == {"code": REDACTED_VALUE, "echo": REDACTED_VALUE}
    assert lines("apcore.tests")[0]["message"] == f"the pin is {REDACTED_VALUE}"


def test_secrets_of_the_caller_are_hidden_in_what_it_calls(executor, lines):
    executor.call("m.outer", {"pin": "1234-5678"})
    assert lines("apcore.tests")[0]["message"] == f"text: pin {REDACTED_VALUE}"
    assert lines("apcore.tests")[0]["module_id"] == "m.plain"
    assert "1234-5678" not in json.dumps(lines())


def test_lines_of_a_module_have_the_trace_of_its_call(executor, lines):
    context = Context.create()
    executor.call("m.plain", {"text": "hi"}, context)
    [line] = lines("apcore.tests")
    assert (line["trace_id"], line["module_id"]) == (context.trace_id, "m.plain")
    logging.getLogger("apcore.tests").info("outside")
    assert lines("apcore.tests")[-1]["trace_id"] is None


def test_secrets_are_looked_for_once_per_call_and_only_when_somebody_logs(executor, lines, monkeypatch):
    made: list[object] = []
    original = running.SensitiveValues
    monkeypatch.setattr(running, "SensitiveValues", lambda *each: made.append(each) or original(*each))
    executor.call("m.vault", {"pin": "1234-5678"})
    assert len(made) == 1
    logging.getLogger("apcore").setLevel(logging.ERROR)
    executor.call("m.vault", {"pin": "1234-5678"})
    assert len(made) == 1


def test_a_check_that_passes_has_no_line(executor, lines):
    executor.validate("m.plain", {"text": "hi"})
    executor.call("m.plain", {"text": "hi"}, run_until=lambda state: state.step_name == "acl_check")
    assert lines() == []


def test_a_stream_has_its_line_and_leaves_others_alone(executor, lines):
    stream = executor.stream_sync("m.plain", {"text": "hi"})
    next(stream)
    logging.getLogger("apcore.tests").info("between chunks")
    list(stream)
    assert lines("apcore.tests")[-1]["trace_id"] is None
    assert len(lines()) == 1


class Steps:
    """Log a secret at each step of a stream."""

    description = "Log a secret at each step."
    input_schema = {"type": "object", "properties": {"pin": {"type": "string", "x-sensitive": True}}}
    output_schema = {"type": "object"}

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        return {}

    def stream(self, inputs: dict[str, Any], context: Context) -> Any:
        for number in range(2):
            logging.getLogger("apcore.tests").info("step %d of %s", number, inputs["pin"])
            yield {str(number): number}


@pytest.mark.parametrize("is_async", [False, True])
def test_what_a_stream_logs_has_no_secrets_and_what_its_reader_logs_is_not_its_own(executor, lines, is_async):
    executor.registry.register("m.steps", Steps())
    reader = logging.getLogger("apcore.reader")

    async def read() -> None:
        async for _ in executor.stream("m.steps", {"pin": "1234-5678"}):
            reader.info("got one")

    if is_async:
        asyncio.run(read())
    else:
        for _ in executor.stream_sync("m.steps", {"pin": "1234-5678"}):
            reader.info("got one")
    assert [line["message"] for line in lines("apcore.tests")] == [
        f"step {number} of {REDACTED_VALUE}" for number in (0, 1)
    ]
    assert [line["module_id"] for line in lines("apcore.tests")] == ["m.steps"] * 2
    assert [line["module_id"] for line in lines("apcore.reader")] == [None] * 2
