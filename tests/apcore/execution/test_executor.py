from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.acl import ACL, ACLRule
from apcore.context import Context, Identity
from apcore.errors import (
    ACLDeniedError,
    CallDepthExceededError,
    CallFrequencyExceededError,
    CircularCallError,
    InvalidInputError,
    InvalidModuleIdError,
    ModuleDisabledError,
    ModuleError,
    ModuleExecuteError,
    ModuleNotFoundError,
    SchemaValidationError,
)
from apcore.execution import AsyncRunner, Executor, SyncRunner
from apcore.modules import module
from apcore.pipeline import Body, Invocation, PipelineState, Step
from apcore.registry import Registry
from apcore.toggles import Toggles
from tests.apcore.execution.conftest import Recorder

Call = Callable[..., Any]


@pytest.mark.req("R-5.9-01", "R-5.9-02", "R-7.4-04", "R-12.2-12", "R-12.2-13", "R-12.2-15")
@pytest.mark.parametrize("module_id", ["math.add", "math.add_async"])
def test_all_four_combinations_of_sync_and_async(call: Call, executor: Executor, module_id: str) -> None:
    assert call(executor, module_id, {"a": 2, "b": 3}) == {"sum": 5}


@pytest.mark.req("R-12.7.7-02")
@pytest.mark.parametrize("module_id", ["math.add", "math.add_async"])
def test_a_sync_call_works_inside_a_running_loop(executor: Executor, module_id: str) -> None:
    async def inside() -> Any:
        return executor.call(module_id, {"a": 2, "b": 3})

    assert asyncio.run(inside()) == {"sum": 5}


@pytest.mark.req("R-12.7.7-01")
def test_a_thousand_sync_calls_start_no_thread_and_no_loop(registry: Registry) -> None:
    seen: set[tuple[int, int]] = set()

    @module(id="probe.here")
    def probe() -> dict[str, Any]:
        """Look around"""
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        seen.add((threading.get_ident(), threading.active_count()))
        return {}

    registry.register("probe.here", probe)
    executor = Executor(registry)
    before = threading.active_count()
    for _ in range(1000):
        executor.call("probe.here")
    assert threading.active_count() <= before
    assert {thread for thread, _ in seen} == {threading.get_ident()}
    assert max(count for _, count in seen) <= before  # watchers of earlier executors may end meanwhile
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()


@pytest.mark.req("R-12.7.7-06")
def test_contextvars_reach_the_module_and_come_back(call: Call, registry: Registry) -> None:
    who: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")

    @module(id="probe.who")
    def probe() -> dict[str, Any]:
        """Read a context variable"""
        return {"who": who.get()}

    registry.register("probe.who", probe)
    token = who.set("ada")
    try:
        assert call(Executor(registry), "probe.who") == {"who": "ada"}
    finally:
        who.reset(token)


@pytest.mark.req("R-12.7.7-03")
def test_an_async_caller_keeps_its_loop_free_while_a_sync_module_runs(registry: Registry) -> None:
    release = threading.Event()

    @module(id="probe.wait")
    def wait() -> dict[str, Any]:
        """Wait for the loop to go on"""
        return {"released": release.wait(5)}

    registry.register("probe.wait", wait)

    async def both() -> Any:
        running = asyncio.create_task(Executor(registry).call_async("probe.wait"))
        await asyncio.sleep(0.01)
        release.set()
        return await running

    assert asyncio.run(both()) == {"released": True}


@pytest.mark.req("R-5.9-04", "R-5.7-05", "R-12.7.2-02")
def test_modules_call_modules_through_the_executor(call: Call, registry: Registry, recorder: Recorder) -> None:
    @module(id="text.outer")
    def outer(context: Context) -> dict[str, Any]:
        """Call another module"""
        return dict(context.executor.call("text.record", {"text": "a", "times": 2}, context))

    registry.register("text.outer", outer)
    root = Context.create()
    assert call(Executor(registry), "text.outer", {}, root) == {"text": "aa"}
    (inner,) = recorder.contexts
    assert (inner.call_chain, inner.caller_id) == (["text.outer", "text.record"], "text.outer")
    assert inner.trace_id == root.trace_id
    assert inner.data is root.data


@pytest.mark.req("R-12.2-16")
def test_an_unknown_module(call: Call, executor: Executor) -> None:
    with pytest.raises(ModuleNotFoundError) as caught:
        call(executor, "no.such.module", {})
    assert caught.value.http_status == 404
    assert caught.value.trace_id


@pytest.mark.parametrize("bad", ["", "Bad.Id", "a..b", None, 7])
def test_a_malformed_id(call: Call, executor: Executor, bad: object) -> None:
    with pytest.raises(InvalidModuleIdError):
        call(executor, bad, {})


@pytest.mark.parametrize("bad", [[1], "text", 5])
def test_inputs_that_are_no_object(call: Call, executor: Executor, bad: object) -> None:
    with pytest.raises(InvalidInputError):
        call(executor, "math.add", bad)


@pytest.mark.req("R-12.2-14")
@pytest.mark.parametrize("bad", [{"a": 1}, {"a": 1, "b": "2"}, {"a": 1, "b": 2, "c": 3}, {"a": True, "b": 1}, {}])
def test_inputs_are_checked_and_never_coerced(call: Call, executor: Executor, bad: dict[str, Any]) -> None:
    with pytest.raises(SchemaValidationError) as caught:
        call(executor, "math.add", bad)
    assert caught.value.errors


@pytest.mark.req("R-5.6-06")
def test_defaults_of_the_schema_are_filled_in_and_the_callers_dict_is_left_alone(
    call: Call, executor: Executor, recorder: Recorder
) -> None:
    mine = {"text": "ab"}
    assert call(executor, "text.record", mine) == {"text": "ab"}
    assert recorder.calls == [{"text": "ab", "times": 1}]
    assert mine == {"text": "ab"}


@pytest.mark.req("R-5.15.1-04", "R-5.9-01", "R-8.3-07")
def test_a_foreign_exception_gives_code_and_trace_and_keeps_its_text_to_itself(
    call: Call, executor: Executor, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(ModuleExecuteError) as caught:
        call(executor, "broken.secret")
    error = caught.value
    assert isinstance(error.cause, ValueError)
    assert error.trace_id
    assert error.trace_id in caplog.text
    assert "ValueError" in caplog.text
    assert "hunter2" not in caplog.text + str(error.to_dict()) + str(error)


@pytest.mark.req("R-5.15.1-01", "R-5.15.1-02", "R-5.15.1-03", "R-7.4-05")
@pytest.mark.parametrize(
    ("returned", "error"),
    [(None, ModuleExecuteError), ([1], ModuleExecuteError), ("x", ModuleExecuteError), ({}, SchemaValidationError)],
)
def test_bad_outputs_are_never_returned(call: Call, returned: Any, error: type[Exception]) -> None:
    class Returns:
        description = "Returns what it should not"
        input_schema: dict[str, Any] = {}
        output_schema = {"type": "object", "required": ["x"]}

        def execute(self, inputs: dict[str, Any], context: Context) -> Any:
            return returned

    registry = Registry()
    registry.register("bad.output", Returns())
    with pytest.raises(error):
        call(Executor(registry), "bad.output")


@pytest.mark.req("R-5.15.1-05")
def test_what_json_cannot_hold_is_returned_and_logged(call: Call, caplog: pytest.LogCaptureFixture) -> None:
    handle, deep = object(), ()
    for _ in range(5_000):
        deep = (deep,)

    @module(id="open.output")
    def output() -> dict[str, Any]:
        """Return more than data"""
        return {"handle": handle, "pair": (1, 2), "text": "x", "deep": deep}

    registry = Registry()
    registry.register(output.id, output)
    assert call(Executor(registry), "open.output")["handle"] is handle
    assert [each.getMessage() for each in caplog.records if each.levelname == "WARNING"] == [
        "Module open.output returns 'handle' as object, which JSON cannot hold",
        "Module open.output returns 'deep' as tuple, which JSON cannot hold",
    ]


def test_a_disabled_module_is_refused_until_it_is_enabled(call: Call, registry: Registry) -> None:
    toggles = Toggles()
    executor = Executor(registry, toggles=toggles)
    toggles.set("math.add", enabled=False)
    with pytest.raises(ModuleDisabledError):
        call(executor, "math.add", {"a": 1, "b": 1})
    toggles.set("math.add", enabled=True)
    assert call(executor, "math.add", {"a": 1, "b": 1}) == {"sum": 2}


@pytest.mark.req("R-7.4-03", "R-5.9-03", "R-6.1-16")
def test_a_denied_caller_learns_only_that(call: Call, registry: Registry) -> None:
    acl = ACL([ACLRule(["@external"], ["math.twice"], "allow")])
    executor = Executor(registry, acl=acl)
    with pytest.raises(ACLDeniedError) as caught:
        call(executor, "math.add", {"nonsense": 1})
    assert caught.value.details["target_id"] == "math.add"
    with pytest.raises(ACLDeniedError) as caught:
        call(executor, "math.twice", {"a": 1})
    assert caught.value.details["caller_id"] == "math.twice"


def test_acl_conditions_see_the_identity(call: Call, registry: Registry) -> None:
    acl = ACL([ACLRule(["@external"], ["math.*"], "allow", conditions={"roles": ["clerk"]})])
    executor = Executor(registry, acl=acl)
    clerk = Context.create(identity=Identity("1", roles=("clerk",)))
    assert call(executor, "math.add", {"a": 1, "b": 1}, clerk) == {"sum": 2}
    with pytest.raises(ACLDeniedError):
        call(executor, "math.add", {"a": 1, "b": 1}, Context.create(identity=Identity("2")))


def _recursive(registry: Registry, module_id: str, target: str, limit: int = 100) -> None:
    @module(id=module_id)
    def again(n: int, context: Context) -> dict[str, Any]:
        """Call on"""
        return dict(context.executor.call(target, {"n": n + 1}, context)) if n < limit else {"n": n}

    registry.register(module_id, again)


@pytest.mark.req("R-12.2-18", "R-5.9-05")
def test_coming_back_through_another_module_is_a_circle(call: Call, registry: Registry) -> None:
    _recursive(registry, "ring.a", "ring.b")
    _recursive(registry, "ring.b", "ring.a")
    with pytest.raises(CircularCallError):
        call(Executor(registry), "ring.a", {"n": 0})


@pytest.mark.req("R-12.2-19")
def test_calling_oneself_is_counted(call: Call, registry: Registry) -> None:
    _recursive(registry, "self.a", "self.a", limit=2)
    _recursive(registry, "self.b", "self.b")
    executor = Executor(registry, config={"max_module_repeat": 3})
    assert call(executor, "self.a", {"n": 0}) == {"n": 2}
    with pytest.raises(CallFrequencyExceededError):
        call(executor, "self.b", {"n": 0})


@pytest.mark.req("R-12.2-17")
def test_the_chain_has_a_limit(call: Call, registry: Registry) -> None:
    for n in range(6):
        _recursive(registry, f"deep.m{n}", f"deep.m{n + 1}", limit=5)
    assert call(Executor(registry, config={"max_call_depth": 6}), "deep.m0", {"n": 0}) == {"n": 5}
    with pytest.raises(CallDepthExceededError):
        call(Executor(registry, config={"max_call_depth": 5}), "deep.m0", {"n": 0})


@pytest.mark.req("R-12.2-20")
def test_siblings_do_not_count(call: Call, registry: Registry) -> None:
    @module(id="many.calls")
    def many(context: Context) -> dict[str, Any]:
        """Call the same module often"""
        return {"sums": [context.executor.call("math.add", {"a": n, "b": 1}, context)["sum"] for n in range(5)]}

    registry.register("many.calls", many)
    assert call(Executor(registry), "many.calls") == {"sums": [1, 2, 3, 4, 5]}


STEPS = [
    "context_creation",
    "call_chain_guard",
    "module_lookup",
    "input_rewrite",
    "acl_check",
    "approval_gate",
    "middleware_before",
    "input_validation",
    "execute",
    "output_validation",
    "middleware_after",
    "return_result",
]
"""Those of the specification, and `input_rewrite`."""


@pytest.mark.req("R-7.4-01", "R-12.2-12", "R-12.2-13")
def test_a_call_passes_all_steps_in_their_order(call: Call, executor: Executor, recorder: Recorder) -> None:
    passed: list[str | None] = []

    def note(state: PipelineState) -> bool:
        passed.append(state.step_name)
        return False

    assert call(executor, "text.record", {"text": "a"}, run_until=note) == {"text": "a"}
    assert passed == STEPS == [step.name for step in executor.strategy.steps]
    assert len(recorder.calls) == 1


@pytest.mark.req("R-5.16-07", "R-5.16-08")
def test_run_until_ends_the_pipeline_with_what_there_is(call: Call, executor: Executor, recorder: Recorder) -> None:
    seen: list[str | None] = []

    def until(name: str) -> Callable[[PipelineState], bool]:
        def predicate(state: PipelineState) -> bool:
            seen.append(state.step_name)
            return state.step_name == name

        return predicate

    outputs = call(executor, "text.record", {"text": "a"}, run_until=until("acl_check"))
    assert seen[-1] == "acl_check"
    assert set(outputs) == set(seen)
    assert recorder.calls == []
    assert call(executor, "text.record", {"text": "a"}, run_until=until("execute")) == {"text": "a"}
    assert call(executor, "text.record", {"text": "b"}, run_until=until("never")) == {"text": "b"}


@pytest.mark.req("R-5.16-05", "R-5.16-06")
def test_a_replaced_step_keeps_its_place(call: Call, executor: Executor) -> None:
    order = [step.name for step in executor.strategy.steps]

    def upper(state: PipelineState) -> None:
        state.result = {"text": "replaced"}

    executor.configure_step("execute", upper)
    assert [step.name for step in executor.strategy.steps] == order
    assert call(executor, "text.record", {"text": "a"}) == {"text": "replaced"}


@pytest.mark.req("R-5.16-05")
@pytest.mark.parametrize("kind", ["plain", "async", "returns an awaitable", "async object"])
def test_what_a_replaced_execute_returns_is_the_result(call: Call, executor: Executor, kind: str) -> None:
    async def later(state: PipelineState) -> dict[str, Any]:
        return {"text": "replaced"}

    class Replaced:
        async def __call__(self, state: PipelineState) -> dict[str, Any]:
            return await later(state)

    def promise(state: PipelineState) -> Any:
        return later(state)

    steps: dict[str, Any] = {
        "plain": lambda state: {"text": "replaced"},
        "async": later,
        "returns an awaitable": promise,
        "async object": Replaced(),
    }
    executor.configure_step("execute", steps[kind])
    assert call(executor, "text.record", {"text": "a"}) == {"text": "replaced"}


def test_of_a_run_that_was_undone_no_result_is_left(registry: Registry) -> None:
    class Repeats(SyncRunner):
        async def execute(self, invocation: Invocation, body: Body) -> None:  # as where transactions get in the way
            await body(self)
            await body(self)

    runs: list[int] = []

    def count(state: PipelineState) -> dict[str, Any]:
        runs.append(len(runs) + 1)
        return {"text": f"run {runs[-1]}"}

    executor = Executor(registry, runners=(Repeats, AsyncRunner))
    executor.configure_step("execute", count)
    assert executor.call("text.record", {"text": "a"}) == {"text": "run 2"}


@pytest.mark.req("R-8.7-03", "R-8.3-04")
def test_what_fails_before_there_is_a_context_is_an_error_of_the_protocol_with_a_trace(
    call: Call, executor: Executor
) -> None:
    parent = Context.create()
    for module_id, inputs in (("", {}), (None, {}), ("text.record", 5)):
        with pytest.raises(ModuleError) as caught:
            call(executor, module_id, inputs, parent)
        assert (caught.value.trace_id, caught.value.details["step"]) == (parent.trace_id, "context_creation")

    def fail(state: PipelineState) -> None:
        raise LookupError("hunter2")

    executor.insert_step(Step("earliest", fail), before="context_creation")
    with pytest.raises(ModuleExecuteError) as failed:
        call(executor, "text.record", {"text": "a"}, parent)
    assert (failed.value.trace_id, failed.value.details["step"]) == (parent.trace_id, "earliest")
    assert "hunter2" not in failed.value.message


def test_inserted_steps_may_be_sync_or_async(call: Call, executor: Executor) -> None:
    seen: list[str] = []

    async def asynchronous(state: PipelineState) -> None:
        await asyncio.sleep(0)
        seen.append(f"before {state.module_id}")

    executor.insert_step(Step("tenant_check", asynchronous), before="acl_check")
    executor.insert_step(Step("stamp", lambda state: seen.append("after")), after="execute")
    call(executor, "math.add", {"a": 1, "b": 2})
    assert seen == ["before math.add", "after"]


@pytest.mark.parametrize("context", [3, "trace", {"trace_id": "a"}])
def test_a_context_of_another_type_is_refused(call: Call, executor: Executor, context: Any) -> None:
    with pytest.raises(InvalidInputError, match="is a Context"):
        call(executor, "math.add", {"a": 1, "b": 2}, context)


@pytest.mark.parametrize("step", ["context_creation", "acl_check", "execute", "return_result"])
def test_a_predicate_that_fails_fails_the_call_after_that_step(call: Call, executor: Executor, step: str) -> None:
    def fail(state: PipelineState) -> bool:
        if state.step_name == step:
            raise RuntimeError("no")
        return False

    with pytest.raises(ModuleExecuteError) as caught:
        call(executor, "math.add", {"a": 1, "b": 2}, run_until=fail)
    assert caught.value.details["step"] == step


@pytest.mark.req("R-5.16-01", "R-5.16-02")
def test_a_failing_step_stops_the_call_unless_it_may_fail(call: Call, executor: Executor) -> None:
    def fail(state: PipelineState) -> None:
        raise RuntimeError("no")

    executor.insert_step(Step("optional", fail, ignore_errors=True), before="execute")
    assert call(executor, "math.add", {"a": 1, "b": 2}) == {"sum": 3}
    executor.insert_step(Step("mandatory", fail), before="execute")
    with pytest.raises(ModuleExecuteError) as caught:
        call(executor, "math.add", {"a": 1, "b": 2})
    assert caught.value.details["step"] == "mandatory"


@pytest.mark.req("R-5.16-09", "R-5.16-10")
def test_step_middleware_runs_inside_the_global_one(call: Call, executor: Executor) -> None:
    seen: list[str] = []

    class Outer:
        def before(self, module_id: str, inputs: Any, context: Context) -> None:
            seen.append("outer in")

        def after(self, module_id: str, inputs: Any, output: Any, context: Context) -> None:
            seen.append("outer out")

    executor.use(Outer())
    executor.hook_step("execute", before=lambda state: seen.append("in"), after=lambda state: seen.append("out"))
    call(executor, "math.add", {"a": 1, "b": 2})
    assert seen == ["outer in", "in", "out", "outer out"]


@pytest.mark.req("R-12.7.2-05", "R-12.7.6-01")
def test_calls_from_many_threads_do_not_share_state(registry: Registry) -> None:
    @module(id="probe.mark")
    def mark(n: int, context: Context) -> dict[str, Any]:
        """Leave a mark and look for others"""
        context.data.setdefault("marks", []).append(n)
        return {"marks": list(context.data["marks"])}

    registry.register("probe.mark", mark)
    executor = Executor(registry)
    results: dict[int, Any] = {}

    def work(start: int) -> None:
        for n in range(start, start + 50):
            results[n] = executor.call("probe.mark", {"n": n})

    threads = [threading.Thread(target=work, args=(start,)) for start in range(0, 800, 50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: {"marks": [n]} for n in range(800)}


@pytest.mark.req("R-11.8.4-02")
def test_on_error_hooks_have_time_to_run_when_the_whole_chain_has_none_left(call: Call) -> None:
    asked: list[str] = []

    class Rescuer:
        def __init__(self, name: str, answer: dict[str, Any] | None) -> None:
            self.name, self.answer = name, answer

        def on_error(self, module_id: str, inputs: Any, error: ModuleError, context: Context) -> Any:
            asked.append(f"{self.name}: {error.code}")
            return self.answer

    @module(id="slow.late")
    def late() -> dict[str, Any]:
        """Take too long"""
        time.sleep(0.1)
        return {}

    registry = Registry()
    registry.register("slow.late", late)
    limits = {"global_timeout": 50, "grace_period": 5000}
    executor = Executor(registry, config=limits, middlewares=[Rescuer("outer", {"saved": 1}), Rescuer("inner", None)])
    assert call(executor, "slow.late") == {"saved": 1}
    assert asked == ["inner: MODULE_TIMEOUT", "outer: MODULE_TIMEOUT"]


def test_the_gates_of_an_executor_cannot_be_assigned_without_effect(executor: Executor) -> None:
    with pytest.raises(AttributeError):
        executor.acl = ACL()  # type: ignore[misc]  # what must not work
    with pytest.raises(AttributeError):
        executor.approval_handler = None  # type: ignore[misc]  # what must not work


@pytest.mark.req("R-5.7-01", "R-7.4-08")
def test_every_call_has_a_context_and_none_of_it_is_in_the_result(
    call: Call, executor: Executor, recorder: Recorder
) -> None:
    assert call(executor, "text.record", {"text": "a"}) == {"text": "a"}
    (context,) = recorder.contexts
    assert (len(context.trace_id), context.call_chain, context.executor) == (32, ["text.record"], executor)


@pytest.mark.req("R-7.4-02")
def test_a_middleware_may_complete_inputs_before_they_are_checked(call: Call, registry: Registry) -> None:
    class Complete:
        def before(self, module_id: str, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
            return {"b": 1, **inputs}

    assert call(Executor(registry, middlewares=[Complete()]), "math.add", {"a": 1}) == {"sum": 2}


@pytest.mark.req("R-6.3-06")
def test_a_denied_call_runs_nothing(call: Call, registry: Registry, recorder: Recorder) -> None:
    with pytest.raises(ACLDeniedError) as caught:
        call(Executor(registry, acl=ACL([], "deny")), "text.record", {"text": "a"})
    assert (caught.value.code, caught.value.http_status, recorder.calls) == ("ACL_DENIED", 403, [])


@pytest.mark.req("R-5.2-11", "R-11.8.4-01", "R-11.8.4-03")
@pytest.mark.parametrize("late", ["before", "execute", "after"])
def test_whoever_is_late_times_out_and_on_error_hears_of_it(call: Call, registry: Registry, late: str) -> None:
    heard: list[str] = []
    ran: list[str] = []

    class Watch:
        def before(self, module_id: str, inputs: Any, context: Context) -> None:
            if late == "before":
                time.sleep(0.15)

        def after(self, module_id: str, inputs: Any, output: Any, context: Context) -> None:
            if late == "after":
                time.sleep(0.15)

        def on_error(self, module_id: str, inputs: Any, error: ModuleError, context: Context) -> None:
            heard.append(error.code)

    @module(id="late.maybe", timeout_ms=50 if late == "execute" else None)
    def maybe() -> dict[str, Any]:
        """Take one's time"""
        ran.append("execute")
        if late == "execute":
            time.sleep(0.15)
        return {}

    registry.register("late.maybe", maybe)
    executor = Executor(registry, middlewares=[Watch()], config={"global_timeout": 100})
    with pytest.raises(ModuleError) as caught:
        call(executor, "late.maybe")
    assert (caught.value.code, heard) == ("MODULE_TIMEOUT", ["MODULE_TIMEOUT"])
    assert ran == ([] if late == "before" else ["execute"])


@pytest.mark.req("R-8.7-03")
@given(
    module_id=st.one_of(
        st.text(max_size=8), st.sampled_from(["math.add", "broken.secret", "text.record"]), st.integers()
    ),
    inputs=st.recursive(
        st.none() | st.integers() | st.text(max_size=3) | st.binary(max_size=3),
        lambda inner: st.dictionaries(st.sampled_from(["a", "b", "text", "_approval_token"]), inner) | st.lists(inner),
        max_leaves=4,
    ),
)
def test_nothing_but_module_errors_comes_out(module_id: Any, inputs: Any) -> None:
    for run in (FUZZED.call, lambda *given: list(FUZZED.stream_sync(*given)), FUZZED.validate):
        with contextlib.suppress(ModuleError):
            run(module_id, inputs)


def add_anything(a: int, b: int) -> dict[str, Any]:
    """Add"""
    return {"sum": a + b}


def break_anything() -> dict[str, Any]:
    """Break"""
    raise ValueError


FUZZED = Executor(Registry())
FUZZED.registry.register("math.add", module(add_anything, id="math.add"))
FUZZED.registry.register("broken.secret", module(break_anything, id="broken.secret"))
FUZZED.registry.register("text.record", Recorder())


@pytest.mark.req("R-12.7.2-06")
def test_many_threads_of_one_chain_may_write_into_its_data(registry: Registry) -> None:
    @module(id="data.write")
    def write(number: int, context: Context) -> dict[str, Any]:
        """Write"""
        for key in range(1_000):
            context.data[f"{number}-{key}"] = number
        return {}

    @module(id="data.spread")
    async def spread(context: Context) -> dict[str, Any]:
        """Have threads write"""
        calls = (asyncio.to_thread(context.executor.call, "data.write", {"number": n}, context) for n in range(8))
        await asyncio.gather(*calls)
        return {}

    registry.register("data.write", write)
    registry.register("data.spread", spread)
    context = Context.create()
    Executor(registry).call("data.spread", {}, context)
    assert len(context.data) == 8_000


@pytest.mark.req("R-12.7.6-02")
def test_one_middleware_serves_all_calls(call: Call, registry: Registry) -> None:
    seen: list[int] = []

    class Same:
        def before(self, module_id: str, inputs: Any, context: Context) -> None:
            seen.append(id(self))

    executor = Executor(registry, middlewares=[Same()])
    for _ in range(2):
        call(executor, "math.add", {"a": 1, "b": 2})
    assert len(seen) == 2
    assert len(set(seen)) == 1


@pytest.mark.req("R-5.7-09", "RW-01")
def test_redacted_inputs_are_a_copy_without_what_is_sensitive(call: Call, registry: Registry) -> None:
    seen: list[Any] = []

    class Look:
        def before(self, module_id: str, inputs: Any, context: Context) -> dict[str, Any]:
            seen.append(context.redacted_inputs)
            assert context.redacted_inputs is context.redacted_inputs  # made once
            context.redacted_inputs["order"]["number"] = 0  # type: ignore[index] # a copy: nobody else sees this
            return {**inputs, "order": {"number": 2}}

    class Order(Recorder):
        input_schema = {
            "type": "object",
            "properties": {
                "pin": {"type": "string", "x-sensitive": True},
                "order": {"type": "object"},
                "badge": {"type": "string"},
                "password": {"type": "string"},
            },
        }

        def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
            seen.append((inputs, context.redacted_inputs))
            return {"text": ""}

    registry.register("shop.order", Order())
    executor = Executor(registry, middlewares=[Look()], sensitive_keys={"password", "badge"})
    inputs = {"pin": "1234", "order": {"number": 1}, "password": "x", "badge": "b7"}
    call(executor, "shop.order", inputs)
    hidden = "***REDACTED***"
    assert seen[0] == {"pin": hidden, "order": {"number": 0}, "password": hidden, "badge": hidden}
    assert seen[1][0]["pin"] == "1234"
    assert seen[1][1] == {"pin": hidden, "order": {"number": 2}, "password": hidden, "badge": hidden}
    assert inputs["order"] == {"number": 1}
