"""Whatever a call runs of others, sync or async, works with the ORM on the caller's connection, in its transaction."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group
from django.db import connections, transaction

from apcore import ACL, ApprovalResult, Context, Executor, ModuleAnnotations, PreviewResult, Step, module
from apcore.errors import ModuleExecuteError, ModuleTimeoutError
from django_apcore.runtime import Runtime
from django_apcore.testing import allow_all, override_runtime

PLACES = frozenset(
    {"rewriter", "condition", "handler", "before", "step", "execute", "after", "on_error", "preflight", "preview"}
)
OBJECT: dict[str, Any] = {"type": "object", "additionalProperties": True}


class Visits:
    """Where the ORM was used, on which thread, and how many groups were seen there before one was added."""

    def __init__(self) -> None:
        self.seen: dict[str, int] = {}
        self.threads: set[int] = set()

    def work(self, place: str) -> None:
        self.seen[place] = Group.objects.filter(name="the caller's").count()
        self.threads.add(threading.get_ident())
        Group.objects.get_or_create(name=place)


class SyncParts:
    """Plain functions at every place where a call runs code of others."""

    description = "Works with the ORM at every place"
    input_schema = OBJECT
    output_schema = OBJECT
    annotations = ModuleAnnotations(requires_approval=True)

    def __init__(self, visits: Visits) -> None:
        self.visit = visits.work

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        self.visit("execute")
        if inputs.get("fail"):
            raise ValueError("no")
        return {}

    def preflight(self, inputs: dict[str, Any], context: Context) -> list[str]:
        self.visit("preflight")
        return []

    def preview(self, inputs: dict[str, Any], context: Context) -> PreviewResult | None:
        self.visit("preview")
        return None

    def before(self, module_id: str, inputs: dict[str, Any], context: Context) -> None:
        self.visit("before")

    def after(self, module_id: str, inputs: dict[str, Any], output: dict[str, Any], context: Context) -> None:
        self.visit("after")

    def on_error(self, module_id: str, inputs: dict[str, Any], error: Exception, context: Context) -> None:
        self.visit("on_error")

    def request_approval(self, request: Any) -> ApprovalResult:
        self.visit("handler")
        return ApprovalResult("approved", approved_by="ada")

    def check_approval(self, approval_id: str) -> ApprovalResult:
        raise NotImplementedError

    def rewrite(self, module_id: str, inputs: dict[str, Any], context: Context) -> None:
        self.visit("rewriter")

    def condition(self, value: Any, context: Context) -> bool:
        self.visit("condition")
        return True

    def step(self, state: Any) -> None:
        self.visit("step")


class AsyncParts(SyncParts):
    """Coroutine functions there, which hand the ORM to a thread as Django's own asynchronous methods do."""

    async def _visit(self, place: str) -> None:
        await sync_to_async(self.visit)(place)

    async def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:  # type: ignore[override]  # it may be async
        await self._visit("execute")
        if inputs.get("fail"):
            raise ValueError("no")
        return {}

    async def preflight(self, inputs: dict[str, Any], context: Context) -> list[str]:  # type: ignore[override]  # it may be async
        await self._visit("preflight")
        return []

    async def preview(self, inputs: dict[str, Any], context: Context) -> PreviewResult | None:  # type: ignore[override]  # it may be async
        await self._visit("preview")
        return None

    async def before(self, module_id: str, inputs: dict[str, Any], context: Context) -> None:  # type: ignore[override]  # it may be async
        await self._visit("before")

    async def after(self, *_: Any) -> None:  # type: ignore[override]  # it may be async
        await self._visit("after")

    async def on_error(self, *_: Any) -> None:  # type: ignore[override]  # it may be async
        await self._visit("on_error")

    async def request_approval(self, request: Any) -> ApprovalResult:  # type: ignore[override]  # it may be async
        await self._visit("handler")
        return ApprovalResult("approved", approved_by="ada")

    async def rewrite(self, *_: Any) -> None:  # type: ignore[override]  # it may be async
        await self._visit("rewriter")

    async def condition(self, value: Any, context: Context) -> bool:  # type: ignore[override]  # it may be async
        await self._visit("condition")
        return True

    async def step(self, state: Any) -> None:  # type: ignore[override]  # it may be async
        await self._visit("step")


@contextmanager
def runtime_of(parts: SyncParts) -> Iterator[Runtime]:
    rule = {"callers": ["*", "@external"], "targets": ["*"], "effect": "allow", "conditions": {"orm": True}}
    acl = ACL([rule], conditions={"orm": parts.condition})
    with override_runtime(modules={"test.parts": parts}, installed=False, acl=acl, approval_handler=parts) as runtime:
        runtime.executor.use(parts, id="parts")
        runtime.executor.add_rewriter(parts.rewrite)
        runtime.executor.insert_step(Step("mine", parts.step), before="execute")
        yield runtime


async def and_close(call: Coroutine[Any, Any, Any]) -> Any:
    """Await it, and close the connections of the thread that did its synchronous work, after whatever is left there."""
    try:
        return await call
    finally:
        await sync_to_async(connections.close_all)()


def begin() -> int:
    transaction.set_autocommit(False)
    Group.objects.create(name="the caller's")
    return threading.get_ident()


def end() -> None:
    transaction.rollback()
    transaction.set_autocommit(True)


def from_sync_code(runtime: Runtime) -> int:
    executor, thread = runtime.executor, begin()
    try:
        assert executor.validate("test.parts", {}).valid
        executor.call("test.parts", {})
        with pytest.raises(ModuleExecuteError):
            executor.call("test.parts", {"fail": True})
    finally:
        end()
    return thread


def from_a_coroutine(runtime: Runtime) -> int:
    async def run() -> int:
        executor, thread = runtime.executor, await sync_to_async(begin)()
        try:
            assert (await executor.validate_async("test.parts", {})).valid
            await executor.call_async("test.parts", {})
            with pytest.raises(ModuleExecuteError):
                await executor.call_async("test.parts", {"fail": True})
        finally:
            await sync_to_async(end)()
        return thread

    thread: int = asyncio.run(and_close(run()))
    return thread


@pytest.mark.req("R-12.7.7-02", "R-12.7.7-03")
@pytest.mark.django_db(transaction=True, databases="__all__")
@pytest.mark.parametrize("kind", [SyncParts, AsyncParts])
@pytest.mark.parametrize("made", [from_sync_code, from_a_coroutine])
def test_code_of_others_shares_thread_and_transaction_of_the_caller(
    kind: type[SyncParts], made: Callable[[Runtime], int]
) -> None:
    visits = Visits()
    with runtime_of(kind(visits)) as runtime:
        thread = made(runtime)
    assert visits.seen == dict.fromkeys(PLACES, 1)
    assert visits.threads == {thread}
    assert not Group.objects.exists()


@module(id="test.inner", effect="transactional")
def inner(fail: bool) -> dict[str, Any]:
    """Add a group beside those of the caller"""
    Group.objects.create(name="inner, lost" if fail else "inner, kept")
    if fail:
        raise ValueError("no")
    return {"seen": Group.objects.count()}


@module(id="test.outer_async", effect="transactional")
async def outer(fail: bool, context: Context) -> dict[str, Any]:
    """Call another one, in both ways, inside of one transaction"""
    await Group.objects.acreate(name="outer")
    result = await context.executor.call_async("test.inner", {"fail": False}, context)
    with contextlib.suppress(ModuleExecuteError):
        await context.executor.call_async("test.inner", {"fail": True}, context)
    if fail:
        raise ValueError("no")
    return {"seen": result["seen"]}


@pytest.mark.req("R-12.7.7-04")
@pytest.mark.django_db(transaction=True, databases="__all__")
@pytest.mark.parametrize("is_async", [False, True])
def test_calls_of_an_async_module_are_part_of_its_transaction(is_async: bool) -> None:
    def call(executor: Executor, fail: bool) -> Any:
        inputs = {"fail": fail}
        if not is_async:
            return executor.call("test.outer_async", inputs)
        return asyncio.run(and_close(executor.call_async("test.outer_async", inputs)))

    with override_runtime(modules=[outer, inner], installed=False, acl=allow_all()) as runtime:
        with pytest.raises(ModuleExecuteError):
            call(runtime.executor, fail=True)
        assert not Group.objects.exists()
        assert call(runtime.executor, fail=False) == {"seen": 2}
    assert {group.name for group in Group.objects.all()} == {"outer", "inner, kept"}


def write_slowly() -> None:
    """Sync code that nobody interrupts: it outlasts the deadline, the grace period and the cancellation."""
    with transaction.atomic():
        Group.objects.create(name="late")
        time.sleep(0.3)
    Group.objects.create(name="later")


@module(id="test.hands_over", effect="transactional", timeout_ms=100)
async def hands_over() -> dict[str, Any]:
    """Hand synchronous code to a thread"""
    await sync_to_async(write_slowly)()
    return {}


@pytest.mark.req("R-12.7.5-05")
@pytest.mark.django_db(transaction=True, databases="__all__")
@pytest.mark.parametrize("is_async", [False, True])
def test_sync_code_that_an_async_module_handed_over_commits_nothing_after_the_deadline(is_async: bool) -> None:
    def call(executor: Executor) -> Any:
        if not is_async:
            return executor.call("test.hands_over", {})
        return asyncio.run(and_close(executor.call_async("test.hands_over", {})))

    with (
        override_runtime(modules=[hands_over], installed=False, acl=allow_all()) as runtime,
        pytest.raises(ModuleTimeoutError),
    ):
        call(runtime.executor)
    assert not Group.objects.exists()
