from __future__ import annotations

import asyncio
import contextvars
import copy
import gc
import inspect
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import Any

import pytest

from apcore.acl import ACL, ACLRule
from apcore.approval import AlwaysDenyHandler, ApprovalRequest, ApprovalResult, AutoApproveHandler
from apcore.context import CancelToken, Context
from apcore.errors import (
    ACLDeniedError,
    ApprovalDeniedError,
    ApprovalPendingError,
    InternalError,
    ModuleError,
    ModuleExecuteError,
    ModuleLoadError,
    ModuleTimeoutError,
    SchemaValidationError,
)
from apcore.execution import Executor, Rewrite
from apcore.pipeline import Step
from apcore.registry import Registry

CHUNKS = [{"parts": {"one": 1}}, {"parts": {"two": 2}}, {"done": True}]
MERGED = {"parts": {"one": 1, "two": 2}, "done": True}
Take = Callable[..., list[dict[str, Any]]]


class Streamer:
    """Base of streaming modules: what it was called with, and how its generator ended."""

    description = "Gives its output in parts"
    input_schema = {"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": False}
    output_schema: dict[str, Any] = {"type": "object", "required": ["done"]}
    annotations: dict[str, Any] = {"streaming": True}

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.contexts: list[Context] = []

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        self.events.append("execute")
        return dict(MERGED)


class SyncStreamer(Streamer):
    def stream(self, inputs: dict[str, Any], context: Context) -> Iterator[Any]:
        self.contexts.append(context)
        try:
            yield from self.chunks(inputs, context)
        finally:
            self.events.append("closed")

    def chunks(self, inputs: dict[str, Any], context: Context) -> Iterator[Any]:
        yield from CHUNKS


class AsyncStreamer(Streamer):
    async def stream(self, inputs: dict[str, Any], context: Context) -> AsyncIterator[Any]:
        self.contexts.append(context)
        try:
            for chunk in self.chunks(inputs, context):
                await asyncio.sleep(0)
                yield chunk
        finally:
            await asyncio.sleep(0)
            self.events.append("closed")

    chunks = SyncStreamer.chunks


class Watcher:
    """A middleware that records what it sees."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def before(self, module_id: str, inputs: dict[str, Any], context: Context) -> None:
        self.events.append("before")

    def after(self, module_id: str, inputs: dict[str, Any], output: dict[str, Any], context: Context) -> None:
        self.events.append(("after", output))

    def on_error(self, module_id: str, inputs: dict[str, Any], error: ModuleError, context: Context) -> None:
        self.events.append(("on_error", error.code))


@pytest.fixture(params=[SyncStreamer, AsyncStreamer])
def streamer(request: pytest.FixtureRequest) -> Any:
    return request.param()


def executor_of(module: Any, **options: Any) -> Executor:
    registry = Registry()
    registry.register("app.stream", module)
    return Executor(registry, **options)


@pytest.fixture(params=["sync", "async", "sync in a loop"])
def take(request: pytest.FixtureRequest) -> Take:
    """``take(executor, chunks=n, **options)``: the chunks of a stream, the first ``n`` of them before it is closed."""

    def run(executor: Executor, *arguments: Any, count: int | None = None, **options: Any) -> list[dict[str, Any]]:
        arguments = arguments or ("app.stream",)
        taken: list[dict[str, Any]] = []
        options.setdefault("into", taken)
        into = options.pop("into")

        def consume() -> None:
            stream = executor.stream_sync(*arguments, **options)
            for chunk in stream:
                into.append(chunk)
                if len(into) == count:
                    stream.close()

        async def consume_async() -> None:
            async with aclosing(executor.stream(*arguments, **options)) as stream:
                async for chunk in stream:
                    into.append(chunk)
                    if len(into) == count:
                        break

        async def consume_in_loop() -> None:
            consume()

        if request.param == "sync":
            consume()
        else:
            asyncio.run(consume_async() if request.param == "async" else consume_in_loop())
        return taken

    return run


# What a stream is


@pytest.mark.req("R-12.2-49", "R-12.2-50", "R-7.4-06")
def test_chunks_come_one_by_one_and_add_up_to_the_output(take: Take, streamer: Any) -> None:
    results: list[dict[str, Any]] = []
    assert take(executor_of(streamer), on_result=results.append) == CHUNKS
    assert results == [MERGED]
    assert streamer.events == ["closed"]


@pytest.mark.req("R-12.2-58")
def test_stream_is_an_async_generator() -> None:
    assert inspect.isasyncgenfunction(Executor.stream)


def test_a_chunk_is_there_before_the_next_one_is_made(streamer: Any) -> None:
    made: list[int] = []
    streamer.chunks = lambda inputs, context: (made.append(number) or {"done": number} for number in range(3))
    stream = executor_of(streamer).stream_sync("app.stream")
    assert (next(stream), made) == ({"done": 0}, [0])
    assert (next(stream), made) == ({"done": 1}, [0, 1])
    stream.close()
    assert made == [0, 1]


def test_what_stream_may_be_besides_a_generator(take: Take) -> None:
    class Lister(Streamer):
        def stream(self, inputs: dict[str, Any], context: Context) -> list[dict[str, Any]]:
            return CHUNKS

    class Later(AsyncStreamer):
        async def stream(self, inputs: dict[str, Any], context: Context) -> Any:  # type: ignore[override]  # it may be async
            await asyncio.sleep(0)
            return AsyncStreamer().stream(inputs, context)

    assert take(executor_of(Lister())) == CHUNKS
    assert take(executor_of(Later())) == CHUNKS


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        (5, "must be a generator or return an iterator, not int"),
        ([{"done": 1}, "x"], "Chunk 2 of 'app.stream' must be"),
    ],
)
def test_what_it_may_not_be(take: Take, returned: Any, text: str) -> None:
    class Wrong(Streamer):
        def stream(self, inputs: dict[str, Any], context: Context) -> Any:
            return returned

    with pytest.raises(ModuleExecuteError, match=text):
        take(executor_of(Wrong()))


@pytest.mark.req("R-12.2-54")
def test_a_module_with_stream_alone_is_refused() -> None:
    class OnlyStream(SyncStreamer):
        execute = None  # type: ignore[assignment]  # without one

    with pytest.raises(ModuleLoadError, match="has no execute"):
        executor_of(OnlyStream())


@pytest.mark.req("R-12.2-55")
def test_a_streaming_module_that_does_not_say_so_is_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    class Silent(SyncStreamer):
        annotations: dict[str, Any] = {}

    registry = executor_of(SyncStreamer()).registry
    assert "streaming" not in caplog.text
    assert registry.get_definition("app.stream").annotations.streaming is True
    executor_of(Silent())
    assert "Module 'app.stream' has stream(), so its annotations should say streaming=True" in caplog.text


def test_a_planned_module_cannot_stream_past_its_plan() -> None:
    class Planned(SyncStreamer):
        execute = None  # type: ignore[assignment]  # without one

        def plan(self, inputs: dict[str, Any], context: Context) -> Any:
            """Never asked."""

        def apply(self, plan: Any, context: Context) -> Any:
            """Never asked."""

    with pytest.raises(ModuleLoadError, match="must not define stream"):
        executor_of(Planned())


# Before the first chunk


@pytest.mark.req("R-12.2-59")
def test_a_denied_stream_yields_nothing(take: Take, streamer: Any) -> None:
    taken: list[dict[str, Any]] = []
    with pytest.raises(ACLDeniedError):
        take(executor_of(streamer, acl=ACL([], "deny")), into=taken)
    assert (taken, streamer.events) == ([], [])


@pytest.mark.req("R-12.2-59")
def test_invalid_inputs_yield_nothing(take: Take, streamer: Any) -> None:
    taken: list[dict[str, Any]] = []
    with pytest.raises(SchemaValidationError):
        take(executor_of(streamer), "app.stream", {"text": 5}, into=taken)
    assert (taken, streamer.events) == ([], [])


@pytest.mark.req("R-12.2-59", "R-7.9-01")
@pytest.mark.parametrize("answer", ["rejected", "pending"])
def test_an_unapproved_stream_yields_nothing(take: Take, streamer: Any, answer: Any) -> None:
    class Handler(AlwaysDenyHandler):
        async def request_approval(self, request: ApprovalRequest) -> ApprovalResult:
            return ApprovalResult(answer, approval_id="a1")

    streamer.annotations = {"streaming": True, "requires_approval": True}
    taken: list[dict[str, Any]] = []
    with pytest.raises((ApprovalDeniedError, ApprovalPendingError)) as caught:
        take(executor_of(streamer, approval_handler=Handler()), into=taken)
    assert caught.value.details["approval_id"] == "a1"
    assert (taken, streamer.events) == ([], [])


@pytest.mark.req("R-7.9-01")
def test_an_approved_stream_runs_with_the_inputs_that_were_shown(take: Take, streamer: Any) -> None:
    shown: list[Any] = []
    given: list[Any] = []

    class Handler(AutoApproveHandler):
        async def request_approval(self, request: ApprovalRequest) -> ApprovalResult:
            shown.append(dict(request.arguments))
            return await super().request_approval(request)

    def chunks(inputs: dict[str, Any], context: Context) -> Iterator[Any]:
        given.append(dict(inputs))
        yield {"done": 1}

    streamer.chunks = chunks
    streamer.annotations = {"streaming": True, "requires_approval": True}
    executor = executor_of(streamer, approval_handler=Handler())
    executor.add_rewriter(lambda module_id, inputs, context: Rewrite.to({"text": "rewritten"}))
    assert take(executor, "app.stream", {"text": "sent"}) == [{"done": 1}]
    assert shown == given == [{"text": "rewritten"}]


def test_the_steps_are_those_of_a_call_in_the_same_order(take: Take, streamer: Any) -> None:
    def names(run: Callable[[Executor], Any]) -> list[str]:
        seen: list[str] = []
        executor = executor_of(streamer)
        for step in executor.strategy.steps:
            executor.hook_step(step.name, before=lambda state: seen.append(state.step_name))
        run(executor)
        return seen

    assert names(take) == names(lambda executor: executor.call("app.stream"))


# Without stream()


@pytest.mark.req("R-12.2-60")
def test_a_module_without_stream_gives_one_chunk_and_nothing_runs_twice(take: Take) -> None:
    class Plain(Streamer):
        annotations = {"requires_approval": True}

    class Handler(AutoApproveHandler):
        asked = 0

        async def request_approval(self, request: ApprovalRequest) -> ApprovalResult:
            Handler.asked += 1
            return await super().request_approval(request)

    Handler.asked = 0
    module, watcher, results = Plain(), Watcher(), list[Any]()
    executor = executor_of(module, approval_handler=Handler(), middlewares=[watcher])
    assert take(executor, on_result=results.append) == results == [MERGED]
    assert module.events == ["execute"]
    assert watcher.events == ["before", ("after", MERGED)]
    assert Handler.asked == 1


def test_the_one_chunk_is_what_the_middleware_made_of_the_output(take: Take) -> None:
    class Stamp:
        def after(self, module_id: str, inputs: Any, output: dict[str, Any], context: Context) -> dict[str, Any]:
            return {**output, "stamp": 1}

    assert take(executor_of(Streamer(), middlewares=[Stamp()])) == [{**MERGED, "stamp": 1}]


def test_a_replaced_execute_step_gives_one_chunk(take: Take, streamer: Any) -> None:
    def execute(state: Any) -> None:
        state.result = {"done": "otherwise"}

    executor = executor_of(streamer)
    executor.configure_step("execute", Step("execute", execute))
    assert take(executor) == [{"done": "otherwise"}]


# After the last chunk


@pytest.mark.req("R-12.2-61", "R-7.4-06")
def test_chunks_that_fit_only_together_are_valid(take: Take, streamer: Any) -> None:
    watcher = Watcher()
    assert len(take(executor_of(streamer, middlewares=[watcher]))) == 3  # only the last has what the schema requires
    assert watcher.events == ["before", ("after", MERGED)]


@pytest.mark.req("R-12.2-61")
def test_an_invalid_result_raises_after_its_chunks(take: Take, streamer: Any) -> None:
    streamer.chunks = lambda inputs, context: iter([{"a": 1}, {"b": 2}])
    taken: list[dict[str, Any]] = []
    watcher = Watcher()
    with pytest.raises(SchemaValidationError):
        take(executor_of(streamer, middlewares=[watcher]), into=taken)
    assert taken == [{"a": 1}, {"b": 2}]
    assert watcher.events == ["before", ("on_error", "SCHEMA_VALIDATION_ERROR")]


def test_a_stream_without_chunks_is_an_empty_output(take: Take, streamer: Any) -> None:
    streamer.chunks = lambda inputs, context: iter(())
    streamer.output_schema = {"type": "object"}
    results: list[Any] = []
    assert take(executor_of(streamer), on_result=results.append) == []
    assert results == [{}]


def test_the_middleware_has_the_last_word_on_the_result_not_on_the_chunks(take: Take, streamer: Any) -> None:
    class Stamp:
        def after(self, module_id: str, inputs: Any, output: dict[str, Any], context: Context) -> dict[str, Any]:
            return {**output, "stamp": 1}

    results: list[Any] = []
    assert take(executor_of(streamer, middlewares=[Stamp()]), on_result=results.append) == CHUNKS
    assert results == [{**MERGED, "stamp": 1}]


@pytest.mark.req("R-12.2-57")
def test_chunks_are_not_changed_by_what_comes_after_them(take: Take, streamer: Any) -> None:
    chunks: list[dict[str, Any]] = [{"a": {"x": [1]}}, {"a": {"y": 2}}, {"a": {"x": [3]}, "done": 1}]
    streamer.chunks = lambda inputs, context: iter(chunks)
    taken = take(executor_of(streamer))
    assert taken == [{"a": {"x": [1]}}, {"a": {"y": 2}}, {"a": {"x": [3]}, "done": 1}]
    assert all(one is other for one, other in zip(taken, chunks, strict=True))


def test_a_consumer_that_changes_a_chunk_does_not_change_the_result(streamer: Any) -> None:
    streamer.chunks = lambda inputs, context: iter(copy.deepcopy(CHUNKS))
    results: list[Any] = []
    for chunk in executor_of(streamer).stream_sync("app.stream", on_result=results.append):
        chunk.get("parts", {}).clear()
        chunk["forged"] = True
    assert results == [MERGED]


# Failures


class Failing:
    def __init__(self, after: int, error: Exception) -> None:
        self.after, self.error = after, error

    def __call__(self, inputs: Any, context: Context) -> Iterator[dict[str, Any]]:
        yield from CHUNKS[: self.after]
        raise self.error


@pytest.mark.req("R-12.2-62")
def test_a_module_that_fails_midway_reaches_on_error_and_the_caller(take: Take, streamer: Any) -> None:
    streamer.chunks = Failing(2, ValueError("password=hunter2"))
    taken: list[dict[str, Any]] = []
    watcher = Watcher()
    with pytest.raises(ModuleExecuteError) as caught:
        take(executor_of(streamer, middlewares=[watcher]), into=taken)
    assert taken == CHUNKS[:2]
    assert watcher.events == ["before", ("on_error", "MODULE_EXECUTE_ERROR")]
    assert "hunter2" not in str(caught.value.to_dict())
    assert streamer.events == ["closed"]


@pytest.mark.parametrize("error", [StopIteration("x"), StopAsyncIteration("x"), KeyError(), SystemExit(3)])
def test_odd_exceptions_end_only_the_call(take: Take, streamer: Any, error: Any) -> None:
    streamer.chunks = Failing(1, error)
    with pytest.raises(ModuleExecuteError):
        take(executor_of(streamer))


class Fallback:
    def on_error(self, module_id: str, inputs: Any, error: ModuleError, context: Context) -> dict[str, Any]:
        return {"done": "instead"}


def test_a_fallback_before_the_first_chunk_is_the_one_chunk(take: Take, streamer: Any) -> None:
    streamer.chunks = Failing(0, ValueError())
    assert take(executor_of(streamer, middlewares=[Fallback()])) == [{"done": "instead"}]


def test_a_fallback_after_chunks_cannot_take_them_back(
    take: Take, streamer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    streamer.chunks = Failing(1, ValueError())
    with pytest.raises(ModuleExecuteError):
        take(executor_of(streamer, middlewares=[Fallback()]))
    assert "came after chunks had left" in caplog.text


def test_a_result_that_grows_too_large_is_stopped(take: Take, streamer: Any) -> None:
    streamer.chunks = lambda inputs, context: ({f"k{number}": "x" * 100} for number in range(1_000))
    taken: list[dict[str, Any]] = []
    with pytest.raises(ModuleExecuteError, match="larger than 1,000 bytes"):
        take(executor_of(streamer, config={"max_stream_bytes": 1_000}), into=taken)
    assert 5 < len(taken) < 15


# Leaving early


@pytest.mark.req("R-12.2-63")
def test_closing_early_ends_the_module_and_tells_its_token_and_the_middleware(take: Take, streamer: Any) -> None:
    watcher = Watcher()
    results: list[Any] = []
    assert take(executor_of(streamer, middlewares=[watcher]), count=1, on_result=results.append) == CHUNKS[:1]
    assert streamer.events == ["closed"]
    token = streamer.contexts[0].cancel_token
    assert token.reason == "the consumer closed the stream"
    assert watcher.events == ["before", ("on_error", "EXECUTION_CANCELLED")]
    assert results == []


@pytest.mark.req("R-12.2-63")
def test_a_stream_that_is_dropped_is_closed(streamer: Any) -> None:
    stream = executor_of(streamer).stream_sync("app.stream")
    assert next(stream) == CHUNKS[0]
    del stream
    gc.collect()
    assert streamer.events == ["closed"]


def test_an_async_stream_that_is_dropped_is_closed_by_its_loop(streamer: Any) -> None:
    async def drop() -> None:
        stream = executor_of(streamer).stream("app.stream")
        assert await anext(stream) == CHUNKS[0]
        del stream
        gc.collect()
        for _ in range(100):
            await asyncio.sleep(0.01)
            if streamer.events:
                return

    asyncio.run(drop())
    assert streamer.events == ["closed"]


def test_a_stream_that_is_never_begun_runs_nothing(streamer: Any) -> None:
    executor_of(streamer).stream_sync("app.stream").close()
    assert streamer.events == []


def test_what_the_consumer_throws_ends_the_module_and_comes_back(streamer: Any) -> None:
    async def throw() -> None:
        stream = executor_of(streamer).stream("app.stream")
        await anext(stream)
        with pytest.raises(ZeroDivisionError):
            await stream.athrow(ZeroDivisionError())

    asyncio.run(throw())
    assert streamer.events == ["closed"]


def test_a_cancelled_consumer_cancels_the_module() -> None:
    class Slow(AsyncStreamer):
        is_running = asyncio.Event()

        async def stream(self, inputs: dict[str, Any], context: Context) -> AsyncIterator[Any]:
            self.contexts.append(context)
            try:
                yield {"done": 1}
                self.is_running.set()
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                self.events.append("cancelled")
                raise

    module, watcher = Slow(), Watcher()

    async def consume() -> None:
        async for _ in executor_of(module, middlewares=[watcher]).stream("app.stream"):
            pass

    async def cancel() -> None:
        task = asyncio.create_task(consume())
        await module.is_running.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert module.events == ["cancelled"]
    assert module.contexts[0].cancel_token.reason == "the caller was cancelled"  # type: ignore[union-attr]  # it has one by now
    assert watcher.events == ["before", ("on_error", "EXECUTION_CANCELLED")]


def test_a_cancelled_consumer_stops_a_sync_generator_through_its_token() -> None:
    class Patient(SyncStreamer):
        is_running = asyncio.Event()
        loop: asyncio.AbstractEventLoop

        def chunks(self, inputs: dict[str, Any], context: Context) -> Iterator[Any]:
            yield {"done": 1}
            self.loop.call_soon_threadsafe(self.is_running.set)
            while True:
                time.sleep(0.01)
                assert context.cancel_token is not None
                context.cancel_token.check()

    module = Patient()

    async def consume() -> None:
        async for _ in executor_of(module).stream("app.stream"):
            pass

    async def cancel() -> None:
        module.loop = asyncio.get_running_loop()
        task = asyncio.create_task(consume())
        await module.is_running.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert module.events == ["closed"]


def test_a_generator_that_will_not_close_is_logged_and_left(
    take: Take, streamer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Stubborn(SyncStreamer):
        def stream(self, inputs: dict[str, Any], context: Context) -> Iterator[Any]:
            while True:
                try:
                    yield {"done": 1}
                except GeneratorExit:
                    yield {"done": 2}

    assert take(executor_of(Stubborn()), count=1) == [{"done": 1}]
    assert "Closing stream() of app.stream failed (RuntimeError)" in caplog.text


# Time


def test_a_chunk_that_is_late_times_out_after_those_that_were_not(take: Take, streamer: Any) -> None:
    def chunks(inputs: Any, context: Context) -> Iterator[dict[str, Any]]:
        yield {"a": 1}
        time.sleep(0.3)
        yield {"done": 1}

    streamer.chunks = chunks
    streamer.timeout_ms = 150
    taken: list[dict[str, Any]] = []
    watcher = Watcher()
    with pytest.raises(ModuleTimeoutError):
        take(executor_of(streamer, middlewares=[watcher]), into=taken)
    assert taken == [{"a": 1}]
    assert watcher.events == ["before", ("on_error", "MODULE_TIMEOUT")]
    assert streamer.events == ["closed"]


def test_the_time_of_a_slow_consumer_counts(streamer: Any) -> None:
    streamer.timeout_ms = 100
    stream = executor_of(streamer).stream_sync("app.stream")
    assert next(stream) == CHUNKS[0]
    time.sleep(0.15)
    with pytest.raises(ModuleTimeoutError):
        next(stream)
    assert streamer.events == ["closed"]


def test_a_sync_generator_that_ignores_its_deadline_is_interrupted(take: Take) -> None:
    class Deaf(SyncStreamer):
        timeout_ms = 50

        def chunks(self, inputs: Any, context: Context) -> Iterator[dict[str, Any]]:
            yield {"done": 1}
            while True:
                time.sleep(0.01)

    module, started = Deaf(), time.monotonic()
    with pytest.raises(ModuleTimeoutError):
        take(executor_of(module, config={"grace_period": 50}))
    assert time.monotonic() - started < 5
    assert module.events == ["closed"]


# Where it runs


def test_all_chunks_of_an_async_generator_are_made_on_one_loop(take: Take) -> None:
    class Loops(AsyncStreamer):
        async def stream(self, inputs: dict[str, Any], context: Context) -> AsyncIterator[Any]:
            loop, queue = asyncio.get_running_loop(), asyncio.Queue[int]()
            feeder = asyncio.create_task(self.feed(queue))
            for _ in range(3):
                assert asyncio.get_running_loop() is loop
                yield {"done": await queue.get()}
            await feeder

        async def feed(self, queue: asyncio.Queue[int]) -> None:
            for number in range(3):
                await asyncio.sleep(0.001)
                queue.put_nowait(number)

    assert take(executor_of(Loops())) == [{"done": 0}, {"done": 1}, {"done": 2}]


def test_a_sync_stream_of_a_sync_module_starts_no_thread(streamer: Any) -> None:
    module = SyncStreamer()
    executor = executor_of(module)
    before = threading.active_count()
    seen: list[Any] = []
    module.chunks = lambda inputs, context: (  # type: ignore[method-assign]  # another one, for this test
        seen.append((threading.get_ident(), threading.active_count())) or {"done": number} for number in range(3)
    )
    assert len(list(executor.stream_sync("app.stream"))) == 3
    assert {thread for thread, _ in seen} == {threading.get_ident()}
    assert max(count for _, count in seen) <= before


def test_no_thread_stays_behind(take: Take, streamer: Any) -> None:
    executor = executor_of(streamer)
    take(executor, count=1)
    take(executor)
    assert [thread.name for thread in threading.enumerate() if thread.name == "apcore-stream"] == []


def test_context_variables_of_the_module_stay_with_it_between_chunks(streamer: Any) -> None:
    who: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="consumer")

    def chunks(inputs: Any, context: Context) -> Iterator[dict[str, Any]]:
        token = who.set("module")
        yield {"done": who.get()}
        yield {"done": who.get()}
        who.reset(token)

    module = SyncStreamer()
    module.chunks = chunks  # type: ignore[method-assign]  # another one, for this test
    seen = [(chunk["done"], who.get()) for chunk in executor_of(module).stream_sync("app.stream")]
    assert seen == [("module", "consumer")] * 2


def test_two_streams_in_one_thread_keep_apart(streamer: Any) -> None:
    executor = executor_of(streamer)
    pairs = zip(executor.stream_sync("app.stream"), executor.stream_sync("app.stream"), strict=True)
    assert [one for one, _ in pairs] == CHUNKS
    assert len({id(context) for context in streamer.contexts}) == 2


def test_a_module_can_stream_another_module(take: Take) -> None:
    class Outer(SyncStreamer):
        def chunks(self, inputs: Any, context: Context) -> Iterator[dict[str, Any]]:
            for chunk in context.executor.stream_sync("app.inner", {}, context):
                yield {"inner": chunk}
            yield {"done": True}

    inner = AsyncStreamer()
    executor = executor_of(Outer())
    executor.registry.register("app.inner", inner)
    assert take(executor) == [*({"inner": chunk} for chunk in CHUNKS), {"done": True}]
    assert inner.contexts[0].call_chain == ["app.stream", "app.inner"]
    assert inner.contexts[0].caller_id == "app.stream"


def test_closing_a_stream_closes_those_inside_of_it(take: Take) -> None:
    class Outer(AsyncStreamer):
        async def stream(self, inputs: Any, context: Context) -> AsyncIterator[dict[str, Any]]:
            async with aclosing(context.executor.stream("app.inner", {}, context)) as chunks:
                async for chunk in chunks:
                    yield chunk

    inner = SyncStreamer()
    executor = executor_of(Outer())
    executor.registry.register("app.inner", inner)
    take(executor, count=1)
    assert inner.events == ["closed"]


def test_a_cancel_token_of_the_caller_reaches_the_stream(take: Take, streamer: Any) -> None:
    token = CancelToken()

    def chunks(inputs: Any, context: Context) -> Iterator[dict[str, Any]]:
        yield {"done": 1}
        token.cancel("enough")
        assert context.cancel_token is not None
        context.cancel_token.check()

    streamer.chunks = chunks
    with pytest.raises(ModuleError) as caught:
        take(executor_of(streamer), "app.stream", {}, Context.create(cancel_token=token))
    assert caught.value.code == "EXECUTION_CANCELLED"


def test_a_step_that_suspends_behind_the_runners_back_is_found_out(streamer: Any) -> None:
    async def sneaky(state: Any) -> None:
        await asyncio.sleep(0)

    executor = executor_of(streamer)
    executor.insert_step(Step("sneaky", sneaky, native=True), before="execute")
    with pytest.raises(InternalError, match="suspended under the sync runner"):
        list(executor.stream_sync("app.stream"))


def test_acl_rules_and_callers_hold_for_streams(take: Take, streamer: Any) -> None:
    acl = ACL([ACLRule(["app.ui"], ["app.stream"], "allow")], "deny")
    executor = executor_of(streamer, acl=acl)
    assert take(executor, "app.stream", {}, Context.create(caller_id="app.ui")) == CHUNKS
    with pytest.raises(ACLDeniedError):
        take(executor, "app.stream", {}, Context.create(caller_id="app.other"))


def test_the_log_of_a_failing_stream_has_no_secret(streamer: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    streamer.chunks = Failing(1, ValueError("password=hunter2"))
    with pytest.raises(ModuleExecuteError):
        list(executor_of(streamer).stream_sync("app.stream"))
    assert "hunter2" not in caplog.text
