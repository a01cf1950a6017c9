"""Connections that do not belong to a run, and what a module can reach through them."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import connection

from django_apcore.effects import UngovernedWriteError, governed
from tests.django_apcore.effects.runs import close_here
from tests.matrix.models import Setting

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "other"])

Act = Callable[[], object]


def in_a_thread_of_the_loop(act: Act) -> None:
    async_to_sync(asyncio.to_thread)(act)


def off_the_sensitive_thread(act: Act) -> None:
    async_to_sync(sync_to_async(act, thread_sensitive=False))()


def in_a_pool_with_the_context(act: Act) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(copy_context().run, act).result()


def write() -> None:
    try:
        Setting.objects.filter(key="k1").update(value="elsewhere")
    finally:
        close_here()


def write_over_a_copy() -> None:
    second = connection.copy()
    try:
        with second.cursor() as cursor:
            cursor.execute("UPDATE matrix_setting SET value = 'elsewhere'")
    finally:
        second._close()


def read() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    close_here()


ELSEWHERE = [in_a_thread_of_the_loop, off_the_sensitive_thread, in_a_pool_with_the_context]


@pytest.mark.parametrize("commit", [False, True])
@pytest.mark.parametrize("attempt", [*(lambda go=go: go(write) for go in ELSEWHERE), write_over_a_copy])
def test_writes_for_the_run_are_refused_and_leave_a_gap(attempt: Act, commit: bool) -> None:
    Setting.objects.update_or_create(key="k1", defaults={"value": "as it was"})
    with governed(commit=commit) as run, pytest.raises(UngovernedWriteError):
        attempt()
    assert not run.record.complete
    assert "Another connection" in run.record.gaps[0]
    assert Setting.objects.get(key="k1").value == "as it was"


@pytest.mark.parametrize("go", ELSEWHERE)
def test_reading_is_free(go: Callable[[Act], None]) -> None:
    with governed(commit=False) as run:
        go(read)
    assert run.record.complete


@pytest.mark.parametrize("go", ELSEWHERE)
def test_outside_of_runs_nothing_is_refused(go: Callable[[Act], None]) -> None:
    Setting.objects.update_or_create(key="k1", defaults={"value": "as it was"})
    go(write)
    assert Setting.objects.get(key="k1").value == "elsewhere"
