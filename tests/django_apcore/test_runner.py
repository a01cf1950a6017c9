"""How modules run in a Django process: whose transaction, whose thread, and what a deadline leaves behind."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group
from django.db import connection, connections, transaction

from apcore import ApprovalResult, AutoApproveHandler, CallbackApprovalHandler, Context, ModuleAnnotations, module
from apcore.errors import (
    ApprovalDeniedError,
    InternalError,
    ModuleExecuteError,
    ModuleTimeoutError,
    SchemaValidationError,
)
from apcore.execution import ExecutorSettings
from apcore.middleware.builtin.retry import RetryMiddleware
from django_apcore.runtime import Runtime
from django_apcore.testing import allow_all, override_runtime

GATED = ModuleAnnotations(requires_approval=True)


@module(id="test.count", effect="transactional")
def count_groups() -> int:
    """Count the groups that this thread sees"""
    return Group.objects.count()


@module(id="test.add", effect="transactional")
def add(name: str, fail: bool = False) -> dict[str, Any]:
    """Add a group"""
    Group.objects.create(name=name)
    if fail:
        raise ValueError("no")
    return {"thread": threading.get_ident()}


@module(id="test.add_async", effect="transactional")
async def add_async(name: str, fail: bool = False) -> dict[str, Any]:
    """Add a group, asynchronously"""
    await Group.objects.acreate(name=name)
    if fail:
        raise ValueError("no")
    return {"thread": 0}


@module(id="test.gated.add", effect="transactional", annotations=GATED)
def add_when_approved(name: str) -> dict[str, Any]:
    """Add a group, once somebody has approved it"""
    Group.objects.create(name=name)
    return {}


@module(id="test.bad_output", effect="transactional", output_schema={"type": "object", "required": ["x"]})
def bad_output() -> dict[str, Any]:
    """Write, then return what the schema refuses"""
    Group.objects.create(name="never")
    return {}


@module(id="test.plain")
def plain(name: str) -> dict[str, Any]:
    """Write without saying that the effect is transactional, then fail"""
    Group.objects.create(name=name)
    raise ValueError("no")


@module(id="test.slow", effect="transactional", timeout_ms=80)
def slow(name: str) -> dict[str, Any]:
    """Write, then ignore the deadline"""
    Group.objects.create(name=name)
    end = time.monotonic() + 10
    while time.monotonic() < end:
        sum(range(100))
    return {}


@module(id="test.sleep", effect="transactional", timeout_ms=300)
def sleep_in_database(name: str) -> dict[str, Any]:
    """Write, then keep the database busy past the deadline"""
    Group.objects.create(name=name)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(20)")
    return {}


@module(id="test.gated", annotations=GATED, effect="transactional")
def gated(name: str) -> dict[str, Any]:
    """Rename all groups"""
    return {"renamed": Group.objects.update(name=name)}


@module(id="test.outer", effect="transactional")
def outer(context: Context) -> dict[str, Any]:
    """Call another module, and go on when it fails"""
    Group.objects.create(name="outer")
    try:
        context.executor.call("test.add", {"name": "inner", "fail": True}, context)
    except ModuleExecuteError:
        Group.objects.create(name="after")
    return {}


MODULES = (count_groups, add, add_async, add_when_approved, bad_output, plain, slow, sleep_in_database, gated, outer)


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with override_runtime(
        modules=MODULES, installed=False, acl=allow_all(), approval_handler=AutoApproveHandler()
    ) as it:
        yield it


@pytest.fixture(params=["sync", "async"])
def call(request: pytest.FixtureRequest, runtime: Runtime) -> Callable[..., Any]:
    def run(module_id: str, **inputs: Any) -> Any:
        if request.param == "sync":
            return runtime.executor.call(module_id, inputs)
        return run_async(runtime.executor.call_async(module_id, inputs))

    return run


def run_async(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run on a loop, and close the connection of the thread that did the loop's synchronous work."""

    async def and_close() -> Any:
        try:
            return await coroutine
        finally:
            await sync_to_async(connections.close_all)()

    return asyncio.run(and_close())


def names() -> set[str]:
    return set(Group.objects.values_list("name", flat=True))


@pytest.mark.django_db(transaction=True, databases="__all__")
def test_a_module_sees_the_callers_uncommitted_rows_and_rolls_back_with_it(runtime: Runtime) -> None:
    with transaction.atomic():
        Group.objects.create(name="mine")
        assert runtime.executor.call("test.count") == {"result": 1}
        result = runtime.executor.call("test.add", {"name": "theirs"})
        assert result["thread"] == threading.get_ident()
        assert names() == {"mine", "theirs"}
        transaction.set_rollback(True)
    assert names() == set()


@pytest.mark.django_db(transaction=True, databases="__all__")
def test_an_async_caller_shares_its_transaction_too(runtime: Runtime) -> None:
    def begin() -> None:
        transaction.set_autocommit(False)
        Group.objects.create(name="mine")

    def end() -> None:
        transaction.rollback()
        transaction.set_autocommit(True)

    async def inside() -> Any:
        await sync_to_async(begin)()
        counted = await runtime.executor.call_async("test.count")
        await sync_to_async(end)()
        return counted

    assert run_async(inside()) == {"result": 1}
    assert names() == set()


@pytest.mark.django_db(databases="__all__")
def test_modules_work_inside_a_test_case_transaction(runtime: Runtime) -> None:
    runtime.executor.call("test.add", {"name": "a"})
    assert names() == {"a"}


@pytest.mark.django_db(transaction=True, databases="__all__")
@pytest.mark.parametrize("module_id", ["test.add", "test.add_async"])
def test_a_transactional_module_commits_or_leaves_nothing(call: Callable[..., Any], module_id: str) -> None:
    call(module_id, name="kept")
    with pytest.raises(ModuleExecuteError):
        call(module_id, name="lost", fail=True)
    assert names() == {"kept"}


@pytest.mark.django_db(transaction=True, databases="__all__")
def test_the_log_names_the_line_of_a_module_that_the_database_refuses(
    runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    Group.objects.create(name="taken")
    with pytest.raises(ModuleExecuteError):
        runtime.executor.call("test.gated.add", {"name": "taken"})
    assert "IntegrityError" in caplog.text
    assert "test_runner.py" in caplog.text
    assert "in add_when_approved" in caplog.text


@pytest.mark.django_db(transaction=True, databases="__all__")
def test_an_output_that_is_refused_commits_nothing(call: Callable[..., Any]) -> None:
    with pytest.raises(SchemaValidationError):
        call("test.bad_output")
    assert names() == set()


@pytest.mark.django_db(transaction=True, databases="__all__")
def test_a_module_that_claims_no_transaction_gets_none(call: Callable[..., Any]) -> None:
    with pytest.raises(ModuleExecuteError):
        call("test.plain", name="stays")
    assert names() == {"stays"}


@pytest.mark.req("R-12.7.5-03", "R-11.8.4-02")
@pytest.mark.django_db(transaction=True, databases="__all__")
def test_a_module_that_ignores_its_deadline_commits_nothing(call: Callable[..., Any], runtime: Runtime) -> None:
    runtime.executor.use_settings(ExecutorSettings(grace_period=20))
    with pytest.raises(ModuleTimeoutError):
        call("test.slow", name="late")
    assert names() == set()


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True, databases="__all__")
def test_postgresql_gives_up_on_a_statement_at_the_deadline(call: Callable[..., Any]) -> None:
    started = time.monotonic()
    with pytest.raises(ModuleTimeoutError):
        call("test.sleep", name="late")
    assert time.monotonic() - started < 5
    assert names() == set()
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)


@pytest.mark.django_db(transaction=True, databases="__all__")
def test_an_inner_call_that_fails_takes_back_its_own_writes_only(call: Callable[..., Any]) -> None:
    call("test.outer")
    assert names() == {"outer", "after"}


@pytest.mark.req("DR-05", "DR-07")
@pytest.mark.django_db(transaction=True, databases="__all__")
@pytest.mark.parametrize("module_id", ["test.add", "test.add_async"])
def test_validate_measures_and_leaves_nothing(runtime: Runtime, module_id: str) -> None:
    result = runtime.executor.validate(module_id, {"name": "a"})
    assert result.valid
    assert result.effect is not None
    assert (result.effect.provenance, result.effect.counts) == ("measured", {"auth.Group:insert": 1})
    assert names() == set()
    again = run_async(runtime.executor.validate_async(module_id, {"name": "a"}))
    assert again.effect is not None
    assert again.effect.digest == result.effect.digest
    assert names() == set()


@pytest.mark.req("DR-10")
@pytest.mark.django_db(transaction=True, databases="__all__")
def test_an_approval_given_on_the_spot_holds_for_what_was_shown() -> None:
    """A handler that answers at once, while somebody else changes a row: nothing may be committed."""
    Group.objects.create(name="a")

    def approve(request: Any) -> ApprovalResult:
        if meddle:
            Group.objects.update(name="meddled")
        return ApprovalResult("approved", approved_by="ada")

    handler = CallbackApprovalHandler(approve)
    with override_runtime(modules=MODULES, installed=False, acl=allow_all(), approval_handler=handler) as runtime:
        meddle = True
        with pytest.raises(ApprovalDeniedError, match="not the approved one"):
            runtime.executor.call("test.gated", {"name": "b"})
        assert names() == {"meddled"}
        meddle = False
        assert runtime.executor.call("test.gated", {"name": "b"}) == {"renamed": 1}
        assert names() == {"b"}


@module(id="test.twice", effect="transactional", annotations=ModuleAnnotations(idempotent=True))
def works_the_second_time(name: str, context: Context) -> dict[str, Any]:
    """Write, fail at first, and succeed then"""
    Group.objects.create(name=name)
    if context.attempt == 1:
        raise InternalError("not yet")
    return {"attempt": context.attempt}


@module(id="test.breaks", annotations=ModuleAnnotations(idempotent=True))
def breaks_its_transaction(seen: list[int], context: Context) -> dict[str, Any]:
    """Leave a transaction that can only be rolled back"""
    Group.objects.create(name=f"attempt {context.attempt}")
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM a_table_that_does_not_exist")
    return {}


@pytest.mark.django_db(transaction=True, databases="__all__")
def test_what_a_failed_attempt_wrote_is_undone_before_the_next(call: Callable[..., Any], runtime: Runtime) -> None:
    runtime.registry.register("test.twice", works_the_second_time)
    runtime.executor.use(RetryMiddleware(base_delay_ms=1))
    assert call("test.twice", name="once") == {"attempt": 2}
    assert list(Group.objects.values_list("name", flat=True)) == ["once"]


@pytest.mark.django_db(transaction=True, databases="__all__")
def test_in_a_transaction_that_is_broken_nothing_is_tried_again(
    runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "apcore.execution")
    runtime.registry.register("test.breaks", breaks_its_transaction)
    runtime.executor.use(RetryMiddleware(base_delay_ms=1))
    with pytest.raises(ModuleExecuteError) as caught, transaction.atomic():  # noqa: PT012 - the block is what breaks
        if connection.vendor != "postgresql":
            transaction.set_rollback(True)  # what Django does when a statement of a nested block fails
        runtime.executor.call("test.breaks", {"seen": []})
    assert "attempts" not in caught.value.details
    assert "broken" in caplog.text
    assert names() == set()
