from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
from collections.abc import AsyncIterator, Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.acl import ACL
from apcore.app import build_app
from apcore.approval import AlwaysDenyHandler
from apcore.context import Context
from apcore.discovery.loading import load_python_file
from apcore.errors import ACLDeniedError, ModuleError, SchemaValidationError
from apcore.execution import Executor, PreflightCheckResult, PreflightResult, Rewrite
from apcore.modules import module, source
from apcore.modules.activity import leave, threads_inside
from apcore.modules.change import Change, PreviewResult
from apcore.modules.plan import Plan
from apcore.pipeline import PipelineState, Step
from apcore.registry import Registry
from tests.apcore.execution.conftest import Recorder

Validate = Callable[..., PreflightResult]


@pytest.fixture(params=["sync", "async"])
def validate(request: pytest.FixtureRequest) -> Validate:
    def run(executor: Executor, *arguments: Any) -> PreflightResult:
        if request.param == "sync":
            return executor.validate(*arguments)
        return asyncio.run(executor.validate_async(*arguments))

    return run


def checks(result: PreflightResult) -> dict[str, bool]:
    return {check.check: check.passed for check in result.checks}


ALL = ["module_id", "module_lookup", "call_chain", "acl", "approval", "schema"]


@pytest.mark.req("R-12.4-01", "R-12.2-21", "R-12.2-22", "R-12.2-27", "R-12.2-29", "R-7.4-07")
def test_a_good_call_passes_every_check_and_runs_nothing(
    validate: Validate, executor: Executor, recorder: Recorder
) -> None:
    result = validate(executor, "text.record", {"text": "a"})
    assert result.valid
    assert [check.check for check in result.checks] == ALL
    assert all(check.passed and check.error is None and check.warnings == [] for check in result.checks)
    assert (result.errors, result.predicted_changes, result.requires_approval) == ([], [], False)
    assert recorder.calls == []


@pytest.mark.req("R-12.2-22")
def test_neither_execute_nor_stream_runs(validate: Validate) -> None:
    ran: list[str] = []

    class Streams(Recorder):
        def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
            ran.append("execute")
            return {"text": "a"}

        async def stream(self, inputs: dict[str, Any], context: Context) -> AsyncIterator[dict[str, Any]]:
            ran.append("stream")
            yield {"text": "a"}

    executor = executor_with(Streams())
    assert validate(executor, "pre.view", {"text": "a"}).valid
    assert ran == []
    assert list(executor.stream_sync("pre.view", {"text": "a"})) == [{"text": "a"}]
    assert ran == ["stream"]


@pytest.mark.req("R-12.4-02", "R-12.8.1-01")
@pytest.mark.parametrize("bad", ["Bad.Id", "", None, "a" * 193])
def test_a_bad_id_ends_the_checks(validate: Validate, executor: Executor, bad: Any) -> None:
    result = validate(executor, bad, {})
    assert checks(result) == {"module_id": False}
    assert not result.valid


@pytest.mark.req("R-12.4-03", "R-12.8.1-01")
def test_an_unknown_module_ends_the_checks(validate: Validate, executor: Executor) -> None:
    result = validate(executor, "no.such", {})
    assert checks(result) == {"module_id": True, "module_lookup": False}
    assert result.errors[0]["code"] == "MODULE_NOT_FOUND"


@pytest.mark.req("R-12.4-04", "R-12.4-06", "R-12.4-07", "R-12.2-26", "R-12.8.4-01")
def test_all_failures_are_collected(validate: Validate, registry: Registry) -> None:
    result = validate(Executor(registry, acl=ACL()), "math.add", {"a": "x"})
    assert checks(result) == {**dict.fromkeys(ALL, True), "acl": False, "schema": False}
    assert [error["code"] for error in result.errors] == ["ACL_DENIED", "SCHEMA_VALIDATION_ERROR"]
    assert {(each["path"], each["constraint"]) for each in result.errors[1]["errors"]} == {
        ("/a", "type"),
        ("/b", "required"),
    }
    assert all({"code", "message"} <= set(error) for error in result.errors)


@pytest.mark.req("R-12.8.1-01", "R-12.2-26")
def test_a_chain_that_is_too_deep_leaves_the_later_checks_their_say(validate: Validate, registry: Registry) -> None:
    executor = Executor(registry, acl=ACL(), config={"max_call_depth": 2})
    result = validate(executor, "math.add", {"a": "x"}, Context.create(call_chain=["a.b", "c.d"]))
    assert checks(result) == {**dict.fromkeys(ALL, True), "call_chain": False, "acl": False, "schema": False}
    assert [error["code"] for error in result.errors] == [
        "CALL_DEPTH_EXCEEDED",
        "ACL_DENIED",
        "SCHEMA_VALIDATION_ERROR",
    ]


@pytest.mark.req("R-12.2-31")
def test_the_callers_inputs_are_left_alone_and_the_token_is_no_input(validate: Validate, executor: Executor) -> None:
    inputs = {"a": 1, "b": 2, "_approval_token": "t"}
    assert validate(executor, "math.add", inputs).valid
    assert inputs == {"a": 1, "b": 2, "_approval_token": "t"}


@pytest.mark.req("R-12.4-05", "R-12.2-24")
def test_approval_is_reported_and_nobody_is_asked(validate: Validate) -> None:
    registry = Registry()

    @module(id="danger.zone", annotations={"requires_approval": True})
    def danger() -> dict[str, Any]:
        """Do something"""
        return {}

    class Loud(AlwaysDenyHandler):
        async def request_approval(self, request: Any) -> Any:
            raise AssertionError("asked")

    registry.register("danger.zone", danger)
    result = validate(Executor(registry, approval_handler=Loud()), "danger.zone", {})
    assert result.valid
    assert result.requires_approval
    assert checks(result)["approval"]


@pytest.mark.req("R-12.2-23", "PV-25")
def test_middleware_and_impure_steps_do_not_run(validate: Validate, executor: Executor) -> None:
    class Loud:
        def before(self, *_: Any) -> None:
            raise AssertionError("ran")

    seen: list[str] = []
    executor.use(Loud())
    executor.insert_step(Step("pure_check", lambda state: seen.append("pure"), pure=True), before="acl_check")
    executor.insert_step(Step("impure", lambda state: seen.append("impure")), before="acl_check")
    assert validate(executor, "math.add", {"a": 1, "b": 2}).valid
    assert seen == ["pure"]


def test_a_failing_pure_step_is_a_failed_check_of_its_name(validate: Validate, executor: Executor) -> None:
    def closed(state: PipelineState) -> None:
        raise RuntimeError("closed on Sundays")

    executor.insert_step(Step("opening_hours", closed, pure=True), after="acl_check")
    result = validate(executor, "math.add", {"a": 1, "b": 2})
    assert not result.valid
    assert checks(result)["opening_hours"] is False
    assert "Sundays" not in str(result.to_dict())


class Previewing:
    description = "Tells what it would do"
    input_schema: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    output_schema: dict[str, Any] = {}

    def __init__(self, preview: Callable[..., Any] | None, warnings: Callable[..., Any] | None = None) -> None:
        self.order: list[str] = []
        if preview is not None:
            self.preview = self._logged("preview", preview)
        if warnings is not None:
            self.preflight = self._logged("preflight", warnings)

    def _logged(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(inputs: dict[str, Any], context: Context) -> Any:
            self.order.append(name)
            return function(inputs, context)

        return run

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        self.order.append("execute")
        return {}


def executor_with(instance: Any, **options: Any) -> Executor:
    registry = Registry()
    registry.register("pre.view", instance)
    return Executor(registry, **options)


CHANGES = [
    Change("delete", "users.42", "Delete ada", before={"id": 42}),
    Change("send", "smtp:ada@example.com", "Say goodbye", **{"x-priority": {"level": 1}}),
]


@pytest.mark.req("PV-03", "PV-04", "PV-20", "PV-21", "PV-08", "PV-06")
def test_predicted_changes_come_from_preview_after_preflight(validate: Validate) -> None:
    instance = Previewing(lambda inputs, context: PreviewResult(CHANGES), lambda inputs, context: ["slow today"])
    executor = executor_with(instance)
    result = validate(executor, "pre.view", {"n": 1})
    assert result.predicted_changes == CHANGES
    assert result.effect is not None
    assert result.effect.provenance == "declared"
    assert result.checks[-1].warnings == ["slow today"]
    assert instance.order == ["preflight", "preview"]
    executor.call("pre.view", {"n": 1})
    assert instance.order == ["preflight", "preview", "execute"]


@pytest.mark.req("PV-01", "PV-02", "DR-13")
@pytest.mark.parametrize("preview", [None, lambda inputs, context: None])
def test_no_preview_is_said_and_nothing_is_made_up(validate: Validate, preview: Any) -> None:
    result = validate(executor_with(Previewing(preview)), "pre.view", {"n": 1})
    assert result.valid
    assert result.predicted_changes == []
    assert result.effect is not None
    assert result.effect.provenance == "none"
    assert "module_preview" not in checks(result)


def failing_with(error: BaseException) -> Callable[..., Any]:
    def fail(inputs: dict[str, Any], context: Context) -> Any:
        raise error

    return fail


@pytest.mark.req("PV-05", "PV-24")
@pytest.mark.parametrize(
    ("preview", "told"),
    [
        (failing_with(ModuleError("The ledger is closed")), "The ledger is closed"),
        (failing_with(ValueError("The ledger is closed")), "ValueError: The ledger is closed"),
        (
            failing_with(FileNotFoundError(2, "no", "/srv/ledger")),
            "The effect could not be previewed: FileNotFoundError",
        ),
        (lambda inputs, context: CHANGES, "preview() must return a PreviewResult or None, not list"),
        (lambda inputs, context: "soon", "preview() must return a PreviewResult or None, not str"),
        (failing_with(SystemExit()), "tried to end the process"),
        (failing_with(asyncio.CancelledError()), "was cancelled"),
    ],
)
def test_a_preview_that_fails_is_a_warning(validate: Validate, preview: Any, told: str) -> None:
    result = validate(executor_with(Previewing(preview)), "pre.view", {"n": 1})
    assert result.valid
    assert result.predicted_changes == []
    assert result.checks[-1].check == "module_preview"
    assert result.checks[-1].passed
    [warning] = result.checks[-1].warnings
    assert told in warning


class Unspeakable(RuntimeError):
    def __str__(self) -> str:
        raise ValueError("no words")


class LibraryError(Exception):
    pass


@pytest.mark.req("R-12.8.5.1-04")
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ModuleError("The ledger is closed"), "The ledger is closed"),
        (ValueError("The ledger is closed"), "ValueError: The ledger is closed"),
        (KeyError("x"), "KeyError: 'x'"),
        (ZeroDivisionError(), "ZeroDivisionError"),
        (RuntimeError("password=hunter22"), "RuntimeError: password=***REDACTED***"),
        (RuntimeError("x" * 10_000), f"RuntimeError: {'x' * 200}…"),
        (FileNotFoundError(2, "no such file", "/srv/ledger"), "FileNotFoundError"),
        (LibraryError("host=db1"), "LibraryError"),
        (Unspeakable(), "Unspeakable"),
        (SystemExit(), "The module tried to end the process"),
    ],
)
def test_a_preflight_that_fails_is_a_warning(validate: Validate, error: BaseException, told: str) -> None:
    result = validate(executor_with(Previewing(None, failing_with(error))), "pre.view", {"n": 1})
    assert result.valid
    assert (result.checks[-1].check, result.checks[-1].passed) == ("module_preflight", True)
    assert result.checks[-1].warnings == [f"preflight() failed: {told}"]


@pytest.mark.parametrize(
    ("preflight", "told"),
    [
        (lambda inputs, context: int("4111 of another customer"), "ValueError"),
        (lambda inputs, context: {}["another customer"], "KeyError"),
        (lambda inputs, context: ["a"].remove("another customer"), "ValueError"),
        (lambda inputs, context: Fraction("another customer"), "ValueError"),
        (lambda inputs, context: os.environ["ANOTHER_CUSTOMER"], "KeyError"),
        (
            lambda inputs, context: Change("update", "Track:1", None),
            "TypeError: Change.summary must be text, not NoneType",
        ),
    ],
)
def test_what_the_language_or_a_library_says_keeps_its_text_to_itself(
    validate: Validate, preflight: Any, told: str
) -> None:
    result = validate(executor_with(Previewing(None, preflight)), "pre.view", {"n": 1})
    assert result.checks[-1].warnings == [f"preflight() failed: {told}"]


def test_what_a_module_says_after_it_has_caught_something_is_told(validate: Validate) -> None:
    def preflight(inputs: dict[str, Any], context: Context) -> None:
        try:
            int("another customer")
        except ValueError:
            raise ValueError("The ledger holds no number") from None

    result = validate(executor_with(Previewing(None, preflight)), "pre.view", {"n": 1})
    assert result.checks[-1].warnings == ["preflight() failed: ValueError: The ledger holds no number"]


def test_the_names_that_an_executor_hides_are_hidden_in_what_a_module_says(validate: Validate) -> None:
    shop = Previewing(None, failing_with(ValueError("no such account, iban=DE44500105175407324931")))
    result = validate(executor_with(shop, sensitive_keys={"iban"}), "pre.view", {"n": 1})
    assert result.checks[-1].warnings == ["preflight() failed: ValueError: no such account, iban=***REDACTED***"]


SHOP = """
class Shop:
    description = "Is closed"
    input_schema = output_schema = {"type": "object"}

    def execute(self, inputs, context):
        return {}

    def preflight(self, inputs, context):
        raise ValueError("The ledger is closed")
"""


def test_an_installed_module_speaks_for_itself_and_not_for_other_packages(
    validate: Validate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_INSTALLED", (str(tmp_path),))
    for name in ("own/shop", "own/prices", "other/shop"):
        file = tmp_path / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(SHOP)
    own, beside, other = (
        load_python_file(tmp_path / root / f"{name}.py", tmp_path / root).Shop
        for root, name in (("own", "shop"), ("own", "prices"), ("other", "shop"))
    )
    told = {}
    for name, preflight in (("own", own().preflight), ("beside", beside().preflight), ("other", other().preflight)):
        shop = own()
        shop.preflight = preflight
        told[name] = validate(executor_with(shop), "pre.view", {}).checks[-1].warnings
    assert told == {
        "own": ["preflight() failed: ValueError: The ledger is closed"],
        "beside": ["preflight() failed: ValueError: The ledger is closed"],
        "other": ["preflight() failed: ValueError"],
    }


@pytest.mark.req("R-12.8.5.1-04")
def test_a_preflight_that_is_cancelled_is_a_warning(validate: Validate) -> None:
    result = validate(executor_with(Previewing(None, failing_with(asyncio.CancelledError()))), "pre.view", {"n": 1})
    assert result.valid
    assert result.checks[-1].warnings[0].startswith("preflight() failed: ")


def test_a_preflight_that_returns_one_text_warns_once(validate: Validate) -> None:
    result = validate(executor_with(Previewing(None, lambda inputs, context: "soon")), "pre.view", {"n": 1})
    assert result.checks[-1].warnings == ["soon"]


@pytest.mark.parametrize("fails", [ModuleError, ValueError, None])
def test_no_warning_shows_the_secrets_of_the_call(validate: Validate, fails: type[Exception] | None) -> None:
    def tell(inputs: dict[str, Any], context: Context) -> list[str]:
        if fails is not None:
            raise fails(f"{inputs['pin']} does not fit")
        return [f"{inputs['pin']} is weak"]

    module = Previewing(tell if fails is not None else None, tell)
    module.input_schema = {"type": "object", "properties": {"pin": {"type": "string", "x-sensitive": True}}}
    result = validate(executor_with(module), "pre.view", {"pin": "1234-5678"})
    assert result.valid
    assert len([text for check in result.checks for text in check.warnings]) == (1 if fails is None else 2)
    assert "1234-5678" not in str(result.to_dict())


def test_the_names_that_the_executor_hides_are_hidden_in_what_is_predicted_too(validate: Validate) -> None:
    def tell(inputs: dict[str, Any], context: Context) -> PreviewResult:
        return PreviewResult([Change("update", "badge", f"Set {inputs['badge']}", after={"note": inputs["badge"]})])

    module = Previewing(tell)
    module.input_schema = {"type": "object", "properties": {"badge": {"type": "string"}}}
    registry = Registry()
    registry.register("pre.view", module)
    result = validate(Executor(registry, sensitive_keys={"badge"}), "pre.view", {"badge": "1234-5678"})
    assert result.valid
    assert len(result.predicted_changes) == 1
    assert "1234-5678" not in str(result.to_dict())


def test_what_a_check_puts_into_the_shared_data_does_not_stay(validate: Validate) -> None:
    def note(inputs: dict[str, Any], context: Context) -> None:
        context.data["seen"] = True

    context = Context.create(data={"mine": 1})
    assert validate(executor_with(Previewing(note, note)), "pre.view", {"n": 1}, context).valid
    assert context.data == {"mine": 1}


@pytest.mark.req("PV-10")
def test_async_previews_are_awaited(validate: Validate) -> None:
    class Async(Previewing):
        async def preview(self, inputs: dict[str, Any], context: Context) -> PreviewResult:
            await asyncio.sleep(0)
            return PreviewResult(CHANGES)

    assert validate(executor_with(Async(None)), "pre.view", {"n": 1}).predicted_changes == CHANGES


@pytest.mark.req("PV-10")
def test_an_async_preview_that_fails_is_a_warning_too(validate: Validate) -> None:
    class Async(Previewing):
        async def preview(self, inputs: dict[str, Any], context: Context) -> PreviewResult:
            await asyncio.sleep(0)
            raise ModuleError("The ledger is closed")

    result = validate(executor_with(Async(None)), "pre.view", {"n": 1})
    assert (result.valid, result.predicted_changes) == (True, [])
    assert (result.checks[-1].check, result.checks[-1].passed) == ("module_preview", True)
    assert "The ledger is closed" in result.checks[-1].warnings[0]


@pytest.mark.req("PV-07", "PV-27")
def test_module_code_never_runs_for_denied_callers_or_bad_inputs(validate: Validate) -> None:
    instance = Previewing(lambda inputs, context: PreviewResult(CHANGES), lambda inputs, context: ["warn"])
    denied = validate(executor_with(instance, acl=ACL()), "pre.view", {"n": 1})
    bad = validate(executor_with(instance), "pre.view", {"n": "x"})
    assert instance.order == []
    assert (denied.predicted_changes, bad.predicted_changes) == ([], [])
    assert "users.42" not in str(denied.to_dict())


@pytest.mark.req("DR-03")
def test_a_plan_is_the_preview(validate: Validate) -> None:
    class Planned:
        description = "Plans, then applies the plan"
        input_schema: dict[str, Any] = {}
        output_schema: dict[str, Any] = {}

        def plan(self, inputs: dict[str, Any], context: Context) -> Plan:
            return Plan(CHANGES)

        def apply(self, plan: Plan, context: Context) -> dict[str, Any]:
            raise AssertionError("applied")

    result = validate(executor_with(Planned()), "pre.view", {})
    assert result.predicted_changes == CHANGES
    assert result.effect is not None
    assert result.effect.provenance == "planned"


def test_what_a_plan_raises_unexpectedly_keeps_its_text_to_itself(validate: Validate) -> None:
    class Planned:
        description = "Cannot plan"
        input_schema: dict[str, Any] = {}
        output_schema: dict[str, Any] = {}

        def plan(self, inputs: dict[str, Any], context: Context) -> Plan:
            raise ValueError("hunter22")

        def apply(self, plan: Plan, context: Context) -> dict[str, Any]:
            raise AssertionError("applied")

    result = validate(executor_with(Planned()), "pre.view", {})
    assert result.checks[-1].warnings == ["The effect could not be previewed: ValueError"]


class Telling:
    """A module whose preview and preflight tell that they ran, and spoil their inputs."""

    description = "Tells"
    input_schema: dict[str, Any] = {"type": "object", "properties": {"names": {"type": "array"}}}
    output_schema: dict[str, Any] = {}

    def __init__(self) -> None:
        self.told: list[Any] = []

    def preflight(self, inputs: dict[str, Any], context: Context) -> list[str]:
        inputs["names"].clear()
        return []

    def preview(self, inputs: dict[str, Any], context: Context) -> None:
        self.told.append(inputs)

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        return {}


def test_a_preview_is_inside_of_its_module_and_none_begins_when_the_module_leaves(validate: Validate) -> None:
    seen: list[int] = []
    previewing = Previewing(lambda inputs, context: seen.append(len(threads_inside(activity))))
    executor = executor_with(previewing)
    activity = executor.registry.get_definition("pre.view").activity

    assert validate(executor, "pre.view", {"n": 1}).effect is not None
    executor.hook_step("input_validation", after=lambda state: leave(activity))
    result = validate(executor, "pre.view", {"n": 1})

    assert (result.valid, result.effect) == (True, None)
    assert "is being unloaded" in result.checks[-1].warnings[0]
    assert seen == [1]
    assert threads_inside(activity) == []


def refuse(state: PipelineState) -> None:
    raise ACLDeniedError("Not you")


def test_preflight_and_preview_get_inputs_of_their_own(validate: Validate) -> None:
    telling = Telling()
    registry = Registry()
    registry.register("x.telling", telling)
    mine = {"names": ["a"]}
    validate(Executor(registry), "x.telling", mine)
    assert telling.told == [{"names": ["a"]}]
    assert mine == {"names": ["a"]}


def test_a_gate_that_somebody_customised_is_checked_too(validate: Validate) -> None:
    telling = Telling()
    registry = Registry()
    registry.register("x.telling", telling)
    executor = Executor(registry)
    executor.configure_step("acl_check", refuse)
    result = validate(executor, "x.telling", {"names": []})
    assert not result.valid
    assert checks(result)["acl"] is False
    executor.configure_step("acl_check", Step("acl_check", refuse))
    validate(executor, "x.telling", {"names": []})
    assert telling.told == [], "its code ran though nobody checked the caller"


def test_a_failure_that_call_ignores_is_a_warning(validate: Validate, executor: Executor) -> None:
    executor.insert_step(Step("optional", refuse, pure=True, ignore_errors=True), after="acl_check")
    result = validate(executor, "math.add", {"a": 1, "b": 2})
    assert result.valid
    assert "ignored" in next(check.warnings[0] for check in result.checks if check.check == "optional")
    assert executor.call("math.add", {"a": 1, "b": 2}) == {"sum": 3}


def test_an_approval_that_a_rewriter_wants_and_nobody_can_give_is_a_failure(
    validate: Validate, executor: Executor
) -> None:
    executor.add_rewriter(lambda module_id, inputs, context: Rewrite.ask("too big"))
    result = validate(executor, "math.add", {"a": 1, "b": 2})
    assert not result.valid
    assert result.requires_approval
    assert checks(result)["approval"] is False


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=2)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner))
KEYS = st.sampled_from(["a", "b", "c", 1, None])
IDS = st.sampled_from(["math.add", "text.record", "text.secret", "math.unknown", "Not An ID", ""])


class Secretive(Recorder):
    allowed_callers = ["math.add"]


@pytest.mark.req("R-12.8.1-02")
@given(module_id=IDS, inputs=st.dictionaries(KEYS, VALUES, max_size=3) | VALUES, asks=st.booleans())
def test_validate_says_yes_exactly_when_call_gets_to_the_module(module_id: str, inputs: Any, asks: bool) -> None:
    registry = Registry()
    registry.register("math.add", module(add, id="math.add"))
    registry.register("text.record", Recorder())
    registry.register("text.secret", Secretive())
    executor = Executor(registry)
    if asks:
        executor.add_rewriter(lambda module_id, inputs, context: Rewrite.ask("because") if "a" in inputs else None)
    reached: list[str] = []

    def stop_there(state: PipelineState) -> None:
        reached.append(state.module_id)
        state.result = {"sum": 0, "text": ""}

    executor.configure_step("execute", stop_there)
    with contextlib.suppress(ModuleError):
        executor.call(module_id, inputs)
    assert executor.validate(module_id, inputs).valid is (reached == [module_id])


def add(a: int, b: float = 0) -> dict[str, Any]:
    """Add"""
    return {"sum": a + b}


@pytest.mark.req("R-12.8.5.1-01", "R-12.8.5.1-02")
def test_warnings_of_preflight_come_after_the_schema_and_change_no_verdict(validate: Validate) -> None:
    executor, order = (
        executor_with(Previewing(None, lambda *given: order.append("preflight") or ["low disk"])),
        list[str](),
    )
    executor.hook_step("input_validation", after=lambda state: order.append("schema"))
    result = validate(executor, "pre.view", {"n": 1})
    assert order == ["schema", "preflight"]
    assert result.valid
    assert [check.warnings for check in result.checks if check.check == "module_preflight"] == [["low disk"]]


@pytest.mark.req("R-12.8.5.1-03")
@pytest.mark.parametrize("preflight", [None, lambda inputs, context: []])
def test_nothing_to_warn_of_is_no_check(validate: Validate, preflight: Any) -> None:
    result = validate(executor_with(Previewing(None, preflight)), "pre.view", {"n": 1})
    assert "module_preflight" not in checks(result)


@pytest.mark.req("R-12.2-28")
def test_a_check_that_passed_has_no_error_and_no_warnings() -> None:
    check = PreflightCheckResult("acl", passed=True)
    assert (check.error, check.warnings) == (None, [])
    assert check.warnings is not PreflightCheckResult("acl", passed=True).warnings


@pytest.mark.req("R-12.8.3-01", "R-12.2-30")
def test_valid_and_errors_follow_from_the_checks(validate: Validate, registry: Registry) -> None:
    def deny(state: PipelineState) -> None:
        raise ACLDeniedError("no")

    executor = Executor(registry)
    executor.configure_step("acl_check", deny)
    result = validate(executor, "math.add", {"a": 1, "b": 2})
    assert [check.check for check in result.checks] == ALL
    assert (result.valid, [error["code"] for error in result.errors]) == (False, ["ACL_DENIED"])
    assert "errors" not in {each.name for each in dataclasses.fields(PreflightResult)}


@pytest.mark.req("R-12.8.5-01")
def test_the_schema_check_says_what_the_call_would(validate: Validate, executor: Executor) -> None:
    inputs = {"a": "1", "c": 3}
    with pytest.raises(SchemaValidationError) as caught:
        executor.call("math.add", inputs)
    (error,) = validate(executor, "math.add", inputs).errors
    assert error["errors"] == caught.value.to_dict()["errors"]


@pytest.mark.req("R-12.2-25", "DR-18", "PV-26")
def test_validate_leaves_no_trace(validate: Validate) -> None:
    class Gated(Recorder):
        annotations = {"requires_approval": True}

    app, told, module = build_app(approval_handler=AlwaysDenyHandler()), list[str](), Gated()
    app.registry.register("text.record", module)
    app.events.subscribe(lambda event: told.append(event.type))
    before = app.registry.list()
    result = validate(app.executor, "text.record", {"text": "a"})
    assert (result.valid, result.requires_approval, result.predicted_changes) == (True, True, [])
    assert (told, app.registry.list(), module.calls) == ([], before, [])


def claiming(inputs: dict[str, Any], context: Context) -> PreviewResult:
    return PreviewResult(CHANGES)


@pytest.mark.req("PV-22")
def test_a_streaming_module_is_previewed_like_any_other(validate: Validate) -> None:
    class Streaming(Previewing):
        def stream(self, inputs: dict[str, Any], context: Context) -> Any:
            raise AssertionError("validate() streams nothing")

    module = Streaming(claiming)
    assert validate(executor_with(module), "pre.view", {"n": 1}).predicted_changes == CHANGES


@pytest.mark.req("DR-02", "DR-17")
def test_a_description_is_labelled_as_the_modules_own_claim(validate: Validate) -> None:
    claimed = validate(executor_with(Previewing(claiming)), "pre.view", {"n": 1}).effect
    assert claimed is not None
    assert claimed.provenance == "declared"


@pytest.mark.req("R-4.6-07")
def test_the_dry_run_flag_is_the_authors_word_and_previews_need_none(validate: Validate) -> None:
    executor = executor_with(Previewing(claiming))
    assert validate(executor, "pre.view", {"n": 1}).predicted_changes == CHANGES
    assert "x-supports-dry-run" not in executor.registry.get_definition("pre.view").metadata


def test_a_result_may_have_further_fields_in_a_class_of_its_own() -> None:
    @dataclasses.dataclass(frozen=True)
    class Timed(PreflightCheckResult):
        ms: int = 0

    assert Timed("acl", True, ms=3) == Timed("acl", True, None, [], 3)
