"""Streams in Django: one transaction from the first chunk to the end, on one thread, for the module alone."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import Any, ClassVar

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group
from django.db import connection, connections, transaction

from apcore import ACL, Context
from apcore.approval import ApprovalRequest, ApprovalResult, AutoApproveHandler
from apcore.errors import (
    ApprovalDeniedError,
    ModuleError,
    ModuleExecuteError,
    ModuleTimeoutError,
    SchemaValidationError,
)
from django_apcore.effects.active import is_governed
from django_apcore.runtime import Runtime
from django_apcore.testing import allow_all, override_runtime
from tests.django_apcore.test_runner import add, names, run_async

pytestmark = [pytest.mark.django_db(transaction=True, databases="__all__")]


class Adder:
    """Adds groups, one per chunk."""

    description = "Add groups one by one"
    effect = "transactional"
    annotations: ClassVar[dict[str, Any]] = {"streaming": True}
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {"names": {"type": "array", "items": {"type": "string"}}, "fail": {"type": "boolean"}},
    }
    output_schema: ClassVar[dict[str, Any]] = {"type": "object", "maxProperties": 3}

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        return {name: Group.objects.create(name=name).name for name in inputs["names"]}


class SyncAdder(Adder):
    def stream(self, inputs: dict[str, Any], context: Context) -> Iterator[dict[str, Any]]:
        for name in inputs["names"]:
            Group.objects.create(name=name)
            yield {name: threading.get_ident()}
        if inputs.get("fail"):
            raise ValueError("no")


class AsyncAdder(Adder):
    async def stream(self, inputs: dict[str, Any], context: Context) -> AsyncIterator[dict[str, Any]]:
        for name in inputs["names"]:
            await Group.objects.acreate(name=name)
            yield {name: await sync_to_async(threading.get_ident)()}
        if inputs.get("fail"):
            raise ValueError("no")


class Lazy(SyncAdder):
    """Takes longer than it may."""

    timeout_ms = 100


class Gated(SyncAdder):
    annotations: ClassVar[dict[str, Any]] = {"streaming": True, "requires_approval": True}


class Deceiver(Gated):
    """Streams something else than it executes, so that it is not what was measured."""

    def stream(self, inputs: dict[str, Any], context: Context) -> Iterator[dict[str, Any]]:
        Group.objects.create(name="something else")
        yield {"a": 1}


class Outer(SyncAdder):
    """Streams another module inside its own transaction, and leaves that early."""

    def stream(self, inputs: dict[str, Any], context: Context) -> Iterator[dict[str, Any]]:
        Group.objects.create(name="outer")
        inner = context.executor.stream_sync("test.sync", {"names": ["x", "y"]}, context)
        yield {"inner": next(inner)}
        inner.close()


class AsyncOuter(AsyncAdder):
    async def stream(self, inputs: dict[str, Any], context: Context) -> AsyncIterator[dict[str, Any]]:
        await Group.objects.acreate(name="outer")
        async with aclosing(context.executor.stream("test.sync", {"names": ["x"]}, context)) as inner:
            async for chunk in inner:
                yield {"inner": chunk}


MODULES = {
    "test.sync": SyncAdder(),
    "test.async": AsyncAdder(),
    "test.lazy": Lazy(),
    "test.gated": Gated(),
    "test.deceiver": Deceiver(),
    "test.outer": Outer(),
    "test.outer_async": AsyncOuter(),
    "test.add": add,
}


class Watching(AutoApproveHandler):
    def __init__(self) -> None:
        self.requests: list[ApprovalRequest] = []

    async def request_approval(self, request: ApprovalRequest) -> ApprovalResult:
        self.requests.append(request)
        return await super().request_approval(request)


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with override_runtime(modules=MODULES, installed=False, acl=allow_all(), approval_handler=Watching()) as it:
        yield it


@pytest.fixture(params=["sync", "async"])
def take(request: pytest.FixtureRequest, runtime: Runtime) -> Callable[..., Any]:
    """``take(module_id, inputs, count)``: the chunks, ended early after ``count`` of them."""

    def run(module_id: str, inputs: dict[str, Any], count: int | None = None) -> list[dict[str, Any]]:
        taken: list[dict[str, Any]] = []
        if request.param == "async":
            run_async(consume(module_id, inputs, count, taken))
            return taken
        stream = runtime.executor.stream_sync(module_id, inputs)
        for chunk in stream:
            taken.append(chunk)
            if len(taken) == count:
                stream.close()
        return taken

    async def consume(module_id: str, inputs: dict[str, Any], count: int | None, taken: list[Any]) -> None:
        async with aclosing(runtime.executor.stream(module_id, inputs)) as stream:
            async for chunk in stream:
                taken.append(chunk)
                if len(taken) == count:
                    break

    return run


BOTH = pytest.mark.parametrize("module_id", ["test.sync", "test.async"])


@BOTH
def test_a_stream_commits_at_its_end(take: Callable[..., Any], module_id: str) -> None:
    assert [list(chunk) for chunk in take(module_id, {"names": ["a", "b"]})] == [["a"], ["b"]]
    assert names() == {"a", "b"}


@BOTH
def test_a_consumer_that_leaves_early_rolls_it_back(take: Callable[..., Any], module_id: str) -> None:
    assert len(take(module_id, {"names": ["a", "b"]}, count=1)) == 1
    assert names() == set()
    assert not connection.in_atomic_block


@BOTH
def test_a_failure_midway_rolls_back_what_was_shown(take: Callable[..., Any], module_id: str) -> None:
    with pytest.raises(ModuleExecuteError):
        take(module_id, {"names": ["a", "b"], "fail": True})
    assert names() == set()


@BOTH
def test_a_merged_result_that_is_refused_commits_nothing(take: Callable[..., Any], module_id: str) -> None:
    with pytest.raises(SchemaValidationError):
        take(module_id, {"names": ["a", "b", "c", "d"]})
    assert names() == set()


@BOTH
def test_all_chunks_are_made_in_one_transaction_on_one_thread(take: Callable[..., Any], module_id: str) -> None:
    chunks = take(module_id, {"names": ["a", "b", "c"]})
    assert len({thread for chunk in chunks for thread in chunk.values()}) == 1


def test_a_sync_stream_runs_on_the_callers_thread_and_in_its_transaction(runtime: Runtime) -> None:
    with transaction.atomic():
        chunks = list(runtime.executor.stream_sync("test.sync", {"names": ["a"]}))
        assert chunks == [{"a": threading.get_ident()}]
        transaction.set_rollback(True)
    assert names() == set()


@pytest.mark.postgresql
def test_other_coroutines_never_see_the_inside_and_can_work_meanwhile(runtime: Runtime) -> None:
    async def consume() -> tuple[set[str], bool]:
        async with aclosing(runtime.executor.stream("test.sync", {"names": ["a", "b"]})) as stream:
            await anext(stream)
            seen = await sync_to_async(names)()
            await Group.objects.acreate(name="mine")
            governed = await sync_to_async(is_governed)()
        return seen, governed

    assert run_async(consume()) == (set(), False)
    assert names() == {"mine"}  # the stream was left early and took only its own writes with it


def test_many_streams_at_once_keep_their_transactions_apart(runtime: Runtime) -> None:
    async def consume(number: int) -> None:
        count = 0
        async with aclosing(runtime.executor.stream("test.sync", {"names": [f"{number}-a", f"{number}-b"]})) as stream:
            async for _ in stream:
                count += 1
                if number % 2 and count == 1:
                    break

    async def all_of_them() -> None:
        for numbers in (range(2), range(2, 4)):
            await asyncio.gather(*(consume(number) for number in numbers))

    if connection.vendor == "sqlite":  # one writer at a time, so one stream after the other
        for number in range(4):
            run_async(consume(number))
    else:
        run_async(all_of_them())
    assert names() == {"0-a", "0-b", "2-a", "2-b"}


def test_no_thread_and_no_connection_stays_behind(runtime: Runtime) -> None:
    for _ in range(3):
        run_async(consume_all(runtime, "test.async"))
        Group.objects.all().delete()
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("apcore-stream")] == []
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
            assert cursor.fetchone()[0] <= 2


async def consume_all(runtime: Runtime, module_id: str) -> list[dict[str, Any]]:
    return [chunk async for chunk in runtime.executor.stream(module_id, {"names": ["a", "b"]})]


def test_a_cancelled_task_rolls_its_stream_back(runtime: Runtime) -> None:
    async def cancel() -> None:
        first = asyncio.Event()

        async def consume() -> None:
            async for _ in runtime.executor.stream("test.async", {"names": ["a", "b"]}):
                first.set()
                await asyncio.sleep(60)

        task = asyncio.create_task(consume())
        await first.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0.2)  # the loop closes the generator that the task let go

    run_async(cancel())
    assert names() == set()


def test_a_slow_consumer_runs_into_the_deadline_and_nothing_is_committed(runtime: Runtime) -> None:
    stream = runtime.executor.stream_sync("test.lazy", {"names": ["a", "b"]})
    next(stream)
    threading.Event().wait(0.15)
    with pytest.raises(ModuleTimeoutError):
        next(stream)
    assert names() == set()


@pytest.mark.req("R-7.9-01")
def test_under_an_approval_a_stream_commits_what_was_measured(take: Callable[..., Any], runtime: Runtime) -> None:
    take("test.gated", {"names": ["a", "b"]})
    handler = runtime.approval_handler
    assert isinstance(handler, Watching)
    effect = handler.requests[0].effect
    assert effect is not None
    assert (effect.provenance, effect.counts) == ("measured", {"auth.Group:insert": 2})
    assert names() == {"a", "b"}


def test_a_stream_that_does_something_else_than_was_measured_commits_nothing(take: Callable[..., Any]) -> None:
    with pytest.raises(ApprovalDeniedError):
        take("test.deceiver", {"names": ["a"]})
    assert names() == set()


def test_an_approved_stream_that_is_left_early_commits_nothing(take: Callable[..., Any]) -> None:
    take("test.gated", {"names": ["a", "b"]}, count=1)
    assert names() == set()


def test_what_the_consumer_writes_between_chunks_is_not_taken_for_the_modules(runtime: Runtime) -> None:
    stream = runtime.executor.stream_sync("test.gated", {"names": ["a", "b"]})
    next(stream)
    assert not is_governed()
    stream.close()


def test_a_nested_stream_that_is_left_takes_back_its_own_writes_only(take: Callable[..., Any]) -> None:
    take("test.outer", {"names": []})
    assert names() == {"outer"}


def test_an_async_stream_inside_an_async_stream_is_in_its_transaction(take: Callable[..., Any]) -> None:
    take("test.outer_async", {"names": []})
    assert names() == {"outer", "x"}
    Group.objects.all().delete()
    take("test.outer_async", {"names": []}, count=1)
    assert names() == set()


def test_a_module_without_stream_commits_before_its_one_chunk(take: Callable[..., Any]) -> None:
    [chunk] = take("test.add", {"name": "a"})
    assert set(chunk) == {"thread"}
    assert names() == {"a"}


def test_a_denied_stream_opens_no_transaction(runtime: Runtime) -> None:
    with override_runtime(modules=MODULES, installed=False, acl=ACL([], "deny")) as closed, pytest.raises(ModuleError):
        next(closed.executor.stream_sync("test.sync", {"names": ["a"]}))
    assert names() == set()
    assert not any(each.in_atomic_block for each in connections.all())


@pytest.mark.postgresql
def test_a_reader_that_keeps_a_chunk_past_the_deadline_keeps_no_transaction_open(runtime: Runtime) -> None:
    runtime.executor.call("test.add", {"name": "opens the connection"})
    streams = {"names": ["a", "b"]}
    stream = runtime.executor.stream_sync("test.lazy", streams)
    next(stream)
    pid = connection.connection.info.backend_pid
    own = connection.copy()  # type: ignore[no-untyped-call]  # Django has no types for it
    try:
        with own.cursor() as cursor:
            alive, until = True, time.monotonic() + 20
            while alive and time.monotonic() < until:
                cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE pid = %s", [pid])
                alive = bool(cursor.fetchone()[0])
    finally:
        own.close()
    assert not alive
    with pytest.raises(ModuleTimeoutError):
        next(stream)
    assert names() == {"opens the connection"}


@pytest.mark.postgresql
def test_a_consumer_in_its_own_transaction_may_take_its_time(runtime: Runtime) -> None:
    with transaction.atomic():
        stream = runtime.executor.stream_sync("test.sync", {"names": ["a"]})
        next(stream)
        with connection.cursor() as cursor:
            cursor.execute("SHOW idle_in_transaction_session_timeout")
            assert cursor.fetchone() == ("0",)
        assert list(stream) == []
    assert names() == {"a"}
