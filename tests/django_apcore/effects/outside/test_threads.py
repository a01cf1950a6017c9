"""Threads of a run: what they do is refused as what the run does is, and they must not outlive it."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests
from asgiref.sync import async_to_sync, sync_to_async
from django.core.mail import send_mail

from apcore.effects import EffectRecord
from django_apcore.effects import OutsideEffectError, UngovernedWriteError, governed, is_governed
from tests.django_apcore.effects.runs import close_here, execute, only_change, preview
from tests.django_apcore.provider import Provider
from tests.matrix.models import Setting

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")

Work = Callable[[], object]


class Worker(threading.Thread):
    def __init__(self, work: Work) -> None:
        super().__init__()
        self._work = work

    def run(self) -> None:
        self._work()


def in_a_thread(work: Work) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def in_a_thread_of_a_kind(work: Work) -> None:
    thread = Worker(work)
    thread.start()
    thread.join()


def after_a_while(work: Work) -> None:
    timer = threading.Timer(0, work)
    timer.start()
    timer.join()


def in_a_pool(work: Work) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


def all_over_a_pool(work: Work) -> None:
    with ThreadPoolExecutor(1) as pool:
        list(pool.map(lambda _: work(), [1]))


def in_the_executor_of_a_loop(work: Work) -> None:
    async def wait() -> None:
        await asyncio.get_running_loop().run_in_executor(None, work)

    async_to_sync(wait)()


ELSEWHERE = [
    in_a_thread,
    in_a_thread_of_a_kind,
    after_a_while,
    in_a_pool,
    all_over_a_pool,
    in_the_executor_of_a_loop,
]


@pytest.fixture
def standing_pool() -> Iterator[ThreadPoolExecutor]:
    """A pool of the process, whose thread has been at work before."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        yield pool


def write() -> None:
    try:
        Setting.objects.filter(key="k1").update(value="elsewhere")
    finally:
        close_here()


def remembered(work: Work) -> tuple[Work, list[Exception]]:
    """The work, and what it was refused: an exception in a thread goes nowhere."""
    errors: list[Exception] = []

    def careful() -> None:
        try:
            work()
        except (OutsideEffectError, UngovernedWriteError) as error:
            errors.append(error)

    return careful, errors


@pytest.mark.parametrize("go", ELSEWHERE)
def test_a_thread_of_the_run_writes_no_row(go: Callable[[Work], None]) -> None:
    work, errors = remembered(write)
    record = execute(lambda: go(work))
    assert [type(error) for error in errors] == [UngovernedWriteError]
    assert not record.complete
    assert "Another connection" in record.gaps[0]
    assert Setting.objects.get(key="k1").value == "1"


@pytest.mark.parametrize("go", ELSEWHERE)
def test_a_thread_of_the_run_reaches_nobody(go: Callable[[Work], None], provider: Provider) -> None:
    work, errors = remembered(lambda: requests.post(provider.url, timeout=10))
    record = preview(lambda: go(work))
    assert [type(error) for error in errors] == [OutsideEffectError]
    assert not record.complete
    assert provider.visits() == 0


@pytest.mark.parametrize("go", ELSEWHERE)
def test_a_thread_that_only_computes_is_no_gap(go: Callable[[Work], None]) -> None:
    found: list[Any] = []
    record = preview(lambda: go(lambda: found.append(is_governed())))
    assert found == [True]
    assert record.complete


def test_a_pool_that_others_use_is_not_taken_over(standing_pool: ThreadPoolExecutor) -> None:
    work, errors = remembered(write)
    record = preview(lambda: standing_pool.submit(work).result())
    assert len(errors) == 1
    assert not record.complete
    assert standing_pool.submit(is_governed).result() is False
    standing_pool.submit(write).result()
    assert Setting.objects.get(key="k1").value == "elsewhere"


def test_a_thread_that_goes_on_is_a_gap() -> None:
    done = threading.Event()
    threads: list[threading.Thread] = []

    def leave_at_work() -> None:
        threads.append(threading.Thread(target=done.wait))
        threads[-1].start()

    try:
        record = preview(leave_at_work)
    finally:
        done.set()
        threads[0].join()
    [gap] = record.gaps
    assert gap == "The module left a thread at work, and nobody knows what it does after this: threading.Event.wait"


def test_a_timer_that_was_cancelled_is_no_gap() -> None:
    threads: list[threading.Thread] = []

    def cancel() -> None:
        timer = threading.Timer(60, write)
        timer.start()
        timer.cancel()
        threads.append(timer)

    assert all(preview(cancel).complete for _ in range(20))
    for thread in threads:
        thread.join()


def test_what_a_thread_does_at_the_end_is_part_of_the_run() -> None:
    begin = threading.Event()

    def finish() -> None:
        begin.wait(10)
        send_mail("Late", "", None, ["a@example.com"])

    thread = threading.Thread(target=finish)
    with governed(commit=False) as run:
        thread.start()
        begin.set()
    assert only_change(run.record).action == "send"
    thread.join()


@pytest.mark.parametrize("is_left", [True, False])
def test_a_task_that_outlives_the_run_on_the_loop_of_the_caller_is_a_gap(is_left: bool) -> None:
    async def call() -> EffectRecord:
        done, tasks = asyncio.Event(), []

        async def later() -> None:
            await done.wait()

        async def work() -> None:
            tasks.append(asyncio.create_task(later()))
            if not is_left:
                tasks[0].cancel()

        record = await sync_to_async(preview)(async_to_sync(work))
        done.set()
        await asyncio.wait(tasks)
        return record

    record = async_to_sync(call)()
    assert len(record.gaps) == is_left
    assert all("left a task at work" in gap and "later" in gap for gap in record.gaps)


def test_work_that_a_pool_has_not_done_is_a_gap(standing_pool: ThreadPoolExecutor) -> None:
    done = threading.Event()
    try:
        record = preview(lambda: standing_pool.submit(done.wait))
    finally:
        done.set()
    assert len(record.gaps) == 1


def test_threads_that_were_there_before_go_on_as_if_nothing_were() -> None:
    begin, found = threading.Event(), []

    def other() -> None:
        begin.wait(10)
        found.append(is_governed())

    thread = threading.Thread(target=other)
    thread.start()
    with governed(commit=False) as run:
        begin.set()
        thread.join()
    assert found == [False]
    assert run.record.complete


@pytest.mark.parametrize("place", [threading.__file__, "/opt/layer/python/site-packages/library/worker.py"])
def test_a_thread_that_a_library_starts_serves_the_process(place: str) -> None:
    """What tells it from a project is where its file lies."""
    found: list[bool] = []
    namespace: dict[str, Any] = {"threading": threading, "work": lambda: found.append(is_governed())}
    library = compile("thread = threading.Thread(target=work)\nthread.start()\nthread.join()", place, "exec")
    record = preview(lambda: exec(library, {**namespace, "__name__": "some_library"}))
    assert found == [False]
    assert record.complete
