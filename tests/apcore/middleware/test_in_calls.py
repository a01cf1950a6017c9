"""Middleware around real calls, in both drivers: states, edges and time-outs (§11.5, §11.8)."""

from __future__ import annotations

import asyncio
import inspect
import logging
import re
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from apcore.approval import ApprovalResult, CallbackApprovalHandler
from apcore.context import Context
from apcore.errors import InternalError, ModuleError, ModuleTimeoutError, SchemaValidationError
from apcore.execution import Executor
from apcore.middleware import Middleware, MiddlewareManager, Retry
from apcore.middleware.builtin import circuit_breaker, error_history, platform_notify, retry, usage
from apcore.modules import ModuleAnnotations
from apcore.registry import Registry

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class Echo:
    description = "Gives its text back"
    input_schema = output_schema = SCHEMA

    def __init__(self, error: ModuleError | None = None, **annotations: Any) -> None:
        self.error, self.runs = error, 0
        self.seen: dict[str, Any] = {}
        self.annotations = ModuleAnnotations(**annotations)

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        self.runs += 1
        self.seen = {**inputs, **context.data}
        if self.error is not None:
            raise self.error
        return {"text": inputs["text"]}


class Layer(Middleware):
    """Writes down what happens; does for each hook what it is given: raise, wait (seconds), or return."""

    def __init__(self, name: str, log: list[str], **does: Any) -> None:
        self.name, self.log, self.does = name, log, does

    def _act(self, hook: str, *arguments: Any) -> Any:
        self.log.append(f"{self.name}.{hook}")
        act = self.does.get(hook)
        if isinstance(act, BaseException):
            raise act
        if isinstance(act, float):
            time.sleep(act)
            return None
        return act(*arguments) if callable(act) else act

    def before(self, *arguments: Any) -> Any:
        return self._act("before", *arguments)

    def after(self, *arguments: Any) -> Any:
        return self._act("after", *arguments)

    def on_error(self, *arguments: Any) -> Any:
        return self._act("on_error", *arguments)


class AsyncLayer(Layer):
    """The same as coroutines."""

    async def before(self, *arguments: Any) -> Any:
        return self._act("before", *arguments)

    async def after(self, *arguments: Any) -> Any:
        return self._act("after", *arguments)

    async def on_error(self, *arguments: Any) -> Any:
        return self._act("on_error", *arguments)


class Waits(Layer):
    """Waits on the loop instead of blocking it."""

    async def before(self, *arguments: Any) -> Any:
        self.log.append(f"{self.name}.before")
        await asyncio.sleep(self.does.get("before", 0))

    async def after(self, *arguments: Any) -> Any:
        self.log.append(f"{self.name}.after")
        await asyncio.sleep(self.does.get("after", 0))


@pytest.fixture(params=[Layer, AsyncLayer])
def layer(request: pytest.FixtureRequest) -> type[Layer]:
    kind: type[Layer] = request.param
    return kind


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture(params=["sync", "async"])
def call(request: pytest.FixtureRequest) -> Callable[..., Any]:
    def run(module: Echo, *layers: Layer, **options: Any) -> Any:
        registry = Registry()
        registry.register("echo.text", module)
        executor = Executor(registry, middlewares=layers, **options)
        if request.param == "sync":
            return executor.call("echo.text", {"text": "a"})
        return asyncio.run(executor.call_async("echo.text", {"text": "a"}))

    return run


@pytest.mark.req("R-11.5-04", "R-11.8.3-02")
def test_after_hooks_replace_the_output_from_the_inside_out(
    call: Callable[..., Any], layer: type[Layer], log: list[str]
) -> None:
    def mark(name: str) -> Callable[..., Any]:
        return lambda module_id, inputs, output, context: {"text": output["text"] + name}

    layers = [layer(name, log, after=mark(name)) for name in ("b", "c")]
    assert call(Echo(), *layers) == {"text": "acb"}
    assert log == ["b.before", "c.before", "c.after", "b.after"]


@pytest.mark.req("RW-11")
def test_what_before_makes_of_the_inputs_is_validated(
    call: Callable[..., Any], layer: type[Layer], log: list[str]
) -> None:
    module = Echo()
    with pytest.raises(SchemaValidationError):
        call(module, layer("b", log, before={"text": 5}))
    assert module.runs == 0


@pytest.mark.req("R-11.1-01", "R-11.8.2-06")
def test_before_changes_inputs_and_the_data_that_all_others_see(
    call: Callable[..., Any], layer: type[Layer], log: list[str]
) -> None:
    def write(module_id: str, inputs: dict[str, Any], context: Context) -> None:
        context.data["k"] = 1

    def read(module_id: str, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        return {"text": f"{inputs['text']}{context.data['k']}"}

    module = Echo()
    assert call(module, layer("a", log, before=write), layer("b", log, before=read)) == {"text": "a1"}
    assert module.seen == {"text": "a1", "k": 1}


@pytest.mark.req("R-11.1-02")
def test_after_changes_the_output(call: Callable[..., Any], layer: type[Layer], log: list[str]) -> None:
    assert call(Echo(), layer("a", log, after={"text": "new"})) == {"text": "new"}


@pytest.mark.req("R-11.1-03")
def test_on_error_recovers(call: Callable[..., Any], layer: type[Layer], log: list[str]) -> None:
    assert call(Echo(InternalError("no")), layer("a", log, on_error={"saved": True})) == {"saved": True}


@pytest.mark.req("R-11.8.1-01")
def test_an_on_error_that_awaited_something_cancelled_is_only_one_that_failed(
    call: Callable[..., Any], layer: type[Layer], log: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    inner = layer("b", log, on_error=asyncio.CancelledError())
    with pytest.raises(InternalError, match="no"):
        call(Echo(InternalError("no")), layer("a", log), inner)
    assert log[-2:] == ["b.on_error", "a.on_error"]
    assert [each.levelno for each in caplog.records if each.name == "apcore.middleware"] == [logging.ERROR]


@pytest.mark.parametrize("after", ["x", None, True, -1, float("nan"), float("inf")])
def test_a_wait_that_is_none_lets_the_first_error_go_on(
    call: Callable[..., Any], layer: type[Layer], log: list[str], after: Any
) -> None:
    inner = layer("b", log, on_error=lambda *_: Retry(after=after))
    inner.can_retry = True  # type: ignore[misc]  # of this one alone
    with pytest.raises(InternalError, match="no"):
        call(Echo(InternalError("no"), idempotent=True), layer("a", log), inner)
    assert log == ["a.before", "b.before", "b.on_error", "a.on_error"]


@pytest.mark.req("R-11.2-06")
def test_the_bands_of_priorities_are_advice() -> None:
    manager = MiddlewareManager()
    manager.add(Middleware(), id="mine", priority=950)
    manager.add(Middleware(), id="extremes", priority=1000)
    manager.add(Middleware(), id="zero", priority=0)
    assert [(each.id, each.priority) for each in manager.entries] == [("extremes", 1000), ("mine", 950), ("zero", 0)]


@pytest.mark.req("R-11.5-01")
@pytest.mark.parametrize(
    ("module_error", "does", "states"),
    [
        (None, {}, ["a.before", "b.before", "execute", "b.after", "a.after"]),
        (None, {"before": InternalError("x")}, ["a.before", "b.before", "b.on_error", "a.on_error"]),
        (InternalError("x"), {}, ["a.before", "b.before", "execute", "b.on_error", "a.on_error"]),
        (
            None,
            {"after": InternalError("x")},
            ["a.before", "b.before", "execute", "b.after", "b.on_error", "a.on_error"],
        ),
    ],
)
def test_states_follow_each_other_as_drawn(
    call: Callable[..., Any],
    layer: type[Layer],
    log: list[str],
    module_error: Any,
    does: dict[str, Any],
    states: list[str],
) -> None:
    class Logged(Echo):
        def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
            log.append("execute")
            return super().execute(inputs, context)

    layers = (layer("a", log), layer("b", log, **does))
    if module_error is None and not does:
        assert call(Logged(), *layers) == {"text": "a"}
    else:
        with pytest.raises(InternalError):
            call(Logged(module_error), *layers)
    assert log == states


@pytest.mark.req("R-11.8.1-03", "R-11.8.1-04")
def test_an_error_that_nobody_answers_reaches_the_caller_as_it_is(
    call: Callable[..., Any], layer: type[Layer], log: list[str]
) -> None:
    seen: list[ModuleError] = []
    error = InternalError("mine")
    layers = [layer(name, log, on_error=lambda *arguments: seen.append(arguments[2])) for name in "ab"]
    with pytest.raises(InternalError) as caught:
        call(Echo(error), *layers)
    assert caught.value is error
    assert seen == [error, error]


@pytest.mark.req("R-11.8.3-03")
def test_an_error_in_after_drops_the_result(call: Callable[..., Any], layer: type[Layer], log: list[str]) -> None:
    error = ModuleError("stop", code="STOPPED")
    with pytest.raises(ModuleError) as caught:
        call(Echo(), layer("a", log), layer("b", log, after=error))
    assert caught.value is error
    assert log[-2:] == ["b.on_error", "a.on_error"]


@pytest.mark.req("R-11.8.3-04")
def test_a_replaced_output_has_to_fit_the_schema(call: Callable[..., Any], layer: type[Layer], log: list[str]) -> None:
    with pytest.raises(SchemaValidationError):
        call(Echo(), layer("a", log, after={"text": 5}))
    assert "a.on_error" in log


@pytest.mark.req("R-11.8.4-01")
@pytest.mark.parametrize("kind", [Layer, AsyncLayer, Waits])
def test_a_before_that_is_late_times_the_call_out(call: Callable[..., Any], kind: type[Layer], log: list[str]) -> None:
    module = Echo()
    with pytest.raises(ModuleTimeoutError):
        call(module, kind("a", log), kind("b", log, before=0.3), config={"global_timeout": 100})
    assert module.runs == 0
    assert log == ["a.before", "b.before", "b.on_error", "a.on_error"]


@pytest.mark.req("R-11.5-05")
def test_a_layer_whose_turn_comes_too_late_was_not_entered(
    call: Callable[..., Any], layer: type[Layer], log: list[str]
) -> None:
    def use_up(module_id: str, inputs: dict[str, Any], context: Context) -> None:
        context.deadline = time.monotonic()

    with pytest.raises(ModuleTimeoutError):
        call(Echo(), layer("a", log, before=use_up), AsyncLayer("b", log))
    assert log == ["a.before", "a.on_error"]


@pytest.mark.req("R-11.8.4-03")
@pytest.mark.parametrize("kind", [Layer, AsyncLayer, Waits])
def test_an_after_that_is_late_times_the_call_out(call: Callable[..., Any], kind: type[Layer], log: list[str]) -> None:
    with pytest.raises(ModuleTimeoutError):
        call(Echo(), kind("a", log), kind("b", log, after=0.7), config={"global_timeout": 500})
    assert log[-2:] == ["b.on_error", "a.on_error"]


@pytest.mark.req("R-11.8.4-04")
def test_an_on_error_that_is_late_ends_the_chain_with_the_first_error(
    call: Callable[..., Any], layer: type[Layer], log: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    limits = {"global_timeout": 100, "grace_period": 200}
    with pytest.raises(ModuleTimeoutError):
        call(Echo(), layer("a", log), layer("b", log, before=0.3, on_error=0.6), config=limits)
    assert "a.on_error" not in log
    assert [each.levelno for each in caplog.records if each.name == "apcore.middleware"] == [logging.ERROR]


def test_a_before_that_hangs_is_interrupted(call: Callable[..., Any], log: list[str]) -> None:
    def hang(*_: Any) -> None:
        end = time.monotonic() + 10
        while time.monotonic() < end:
            sum(range(100))

    started = time.monotonic()
    with pytest.raises(ModuleTimeoutError):
        call(Echo(), Layer("a", log, before=hang), config={"global_timeout": 100, "grace_period": 100})
    assert time.monotonic() - started < 5


@pytest.mark.req("R-11.8.4-05")
def test_waiting_for_an_approval_uses_no_time_of_the_chain(call: Callable[..., Any], log: list[str]) -> None:
    def decide(request: Any) -> ApprovalResult:
        time.sleep(0.8)
        return ApprovalResult("approved")

    handler = CallbackApprovalHandler(decide)
    options = {"approval_handler": handler, "config": {"global_timeout": 600}}
    assert call(Echo(requires_approval=True), Layer("a", log), **options) == {"text": "a"}


@pytest.mark.req("R-12.2-34", "R-11.1-04")
def test_a_chain_can_be_run_around_any_function(log: list[str]) -> None:
    manager = MiddlewareManager()
    manager.add(Layer("a", log, before={"x": 1}), id="a", priority=800)
    manager.add(AsyncLayer("b", log, after={"y": 2}), id="b", priority=200)

    async def run(inputs: Any) -> Any:
        log.append(f"next {inputs}")
        return {"z": 3}

    async def fail(inputs: Any) -> Any:
        raise ValueError("hunter2")

    context = Context.create()
    assert asyncio.run(manager.run_chain("m.one", {}, context, run)) == {"y": 2}
    assert log == ["a.before", "b.before", "next {'x': 1}", "b.after", "a.after"]
    with pytest.raises(ModuleError) as caught:
        asyncio.run(manager.run_chain("m.one", {}, context, fail))
    assert "hunter2" not in str(caught.value.to_dict())
    manager.add(Layer("c", log, on_error={"saved": 1}), id="c")
    assert asyncio.run(manager.run_chain("m.one", {}, context, fail)) == {"saved": 1}


@pytest.mark.req("R-12.7.6-02")
def test_one_instance_serves_calls_that_run_at_the_same_time() -> None:
    together = threading.Barrier(8)
    instances: list[int] = []

    class Shared(Middleware):
        def before(self, module_id: str, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
            context.data["mine"] = inputs["text"]
            together.wait()
            return {"text": inputs["text"] * 2}

        def after(self, module_id: str, inputs: Any, output: Any, context: Context) -> dict[str, Any]:
            instances.append(id(self))
            return {"text": f"{output['text']}/{context.data['mine']}"}

    registry = Registry()
    registry.register("echo.text", Echo())
    executor = Executor(registry, middlewares=[Shared()])
    results: dict[str, str] = {}

    def one(text: str) -> None:
        results[text] = executor.call("echo.text", {"text": text})["text"]

    threads = [threading.Thread(target=one, args=(letter,)) for letter in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {letter: f"{letter * 2}/{letter}" for letter in "abcdefgh"}
    assert len(set(instances)) == 1


@pytest.mark.req("R-12.7.6-03")
@pytest.mark.parametrize(
    "kind",
    [
        retry.RetryMiddleware,
        circuit_breaker.CircuitBreakerMiddleware,
        usage.UsageMiddleware,
        error_history.ErrorHistoryMiddleware,
        platform_notify.PlatformNotifyMiddleware,
    ],
)
def test_built_ins_set_no_attribute_while_a_call_runs(kind: type[Any]) -> None:
    methods = [each for name, each in inspect.getmembers(kind, inspect.isfunction) if name != "__init__"]
    lines = [line.strip() for each in methods for line in inspect.getsource(each).splitlines()]
    stored = [line for line in lines if re.match(r"self\.\w+\s*[-+|]?=[^=]", line)]
    assert stored == []


def test_an_id_is_given_found_and_taken_back(log: list[str]) -> None:
    registry = Registry()
    registry.register("echo.text", Echo())
    executor = Executor(registry)
    assert executor.use(Layer("a", log)) == "layer"
    assert executor.use(Layer("b", log)) == "layer-2"
    assert executor.use(Layer("c", log), id="third", priority=900) == "third"
    assert [each.id for each in executor.middleware] == ["third", "layer", "layer-2"]
    removed = executor.remove("layer")
    assert removed.name == "a"
    executor.call("echo.text", {"text": "x"})
    assert [each for each in log if each.endswith("before")] == ["c.before", "b.before"]
    with pytest.raises(ModuleError, match="registered are: third, layer-2"):
        executor.remove("layer")
    with pytest.raises(ModuleError, match="already"):
        executor.use(Layer("d", log), id="third")
    with pytest.raises(ModuleError, match="is a class"):
        executor.use(Layer)
    for bad in ("", "two words", "1st", 5, "x" * 101):
        with pytest.raises(ModuleError, match="letter"):
            executor.use(Layer("d", log), id=bad)  # type: ignore[arg-type]  # what a mistaken caller passes


def test_a_plain_function_may_return_something_to_await(call: Callable[..., Any], log: list[str]) -> None:
    async def later(value: Any) -> Any:
        await asyncio.sleep(0)
        return value

    mixed = Layer("a", log, before=lambda *_: later({"text": "b"}), after=lambda *_: later({"text": "c"}))
    module = Echo()
    assert call(module, mixed, Layer("b", log)) == {"text": "c"}
    assert module.seen["text"] == "b"
    assert log == ["a.before", "b.before", "b.after", "a.after"]


def test_what_began_ends_however_often_a_call_is_cancelled(log: list[str]) -> None:
    """Each cancellation ends the hook that runs just then; the others are told all the same, whatever one answers."""

    class Slow(Layer):
        async def on_error(self, *arguments: Any) -> Any:
            self._act("on_error", *arguments)
            self.does["begun"].put_nowait(self)
            await asyncio.sleep(60)

    async def run() -> None:
        begun: asyncio.Queue[Layer] = asyncio.Queue()
        registry = Registry()
        registry.register("echo.text", Echo(InternalError("broken")))
        answering = AsyncLayer("c", log, on_error={"text": "x"})
        layers = [Layer("a", log), Slow("b", log, begun=begun), answering, Slow("d", log, begun=begun)]
        call = asyncio.create_task(Executor(registry, middlewares=layers).call_async("echo.text", {"text": "a"}))
        for _ in range(2):
            await begun.get()
            call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(run())
    assert log[-4:] == ["d.on_error", "c.on_error", "b.on_error", "a.on_error"]


def test_a_hook_whose_thread_is_busy_is_told_later(log: list[str]) -> None:
    """A cancellation that comes while it waits in the queue takes it out of there, and it is queued again."""
    occupied, free = threading.Event(), threading.Event()

    def occupy() -> None:
        occupied.set()
        free.wait()

    async def run() -> None:
        begun = asyncio.Event()

        class Sleeper(Echo):
            async def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:  # type: ignore[override]  # it may be async
                begun.set()
                await asyncio.sleep(60)
                return inputs

        registry = Registry()
        registry.register("echo.text", Sleeper())
        executor = Executor(registry, middlewares=[Layer("a", log)])
        call = asyncio.create_task(executor.call_async("echo.text", {"text": "a"}))
        await begun.wait()
        other = asyncio.create_task(sync_to_async(occupy)())
        await asyncio.to_thread(occupied.wait)
        for _ in range(2):
            call.cancel()
            for _ in range(10):
                await asyncio.sleep(0)
        free.set()
        await other
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(run())
    assert log == ["a.before", "a.on_error"]
