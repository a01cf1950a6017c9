"""Threads and asyncio tasks that the code of a project starts in a run work in that run, and have to end with it."""

import asyncio
import functools
import inspect
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import PurePath
from types import FrameType
from typing import Any, Final

from django_apcore.effects.active import Run, active_run, current_run

_LIBRARIES: Final = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})
"""Where packages of the system, of the user or of another environment lie, which this one may read, too."""
_PACKAGES: Final = frozenset({"apcore", "django_apcore"})
_PLUMBING: Final = frozenset({"concurrent", "asyncio"})
"""What stands between a pool and whoever has work for it."""
_TIME_TO_END: Final = 0.5
"""Seconds that all threads of a run have to end in, when it is over: a timer that was cancelled ends a moment later."""


def follow_threads() -> None:
    """Have threads, and tasks of pools and loops, belong to the run in which a project's own code starts them.

    A thread has a context of its own, in which no run would be active; a task of a loop that outlives the run, the
    caller's for one, would be in none any more. What libraries start serves the process, telemetry for one, and goes on
    as ever. Idempotent.
    """
    if not hasattr(threading.Thread.start, "follows_run"):
        threading.Thread.start = _following_start(threading.Thread.start)  # type: ignore[method-assign, assignment]  # the hook itself
        ThreadPoolExecutor.submit = _following_submit(ThreadPoolExecutor.submit)  # type: ignore[method-assign]  # the hook itself
        asyncio.BaseEventLoop.create_task = _following_task(  # type: ignore[method-assign]  # the hook itself
            asyncio.BaseEventLoop.create_task
        )


def left_running(run: Run) -> Iterator[str]:
    """A gap for each thread and task that is still at work when the module is done, and does not end soon."""
    until = time.monotonic() + _TIME_TO_END
    for work, name in run.threads:
        if _is_at_work(work, until):
            kind = "thread" if isinstance(work, threading.Thread) else "task"
            yield f"The module left a {kind} at work, and nobody knows what it does after this: {name}"


def _is_at_work(work: threading.Thread | Future[Any] | asyncio.Task[Any], until: float) -> bool:
    # asked again and again: a task of another thread's loop cannot be waited for
    while (alive := work.is_alive() if isinstance(work, threading.Thread) else not work.done()) and (
        time.monotonic() < until
    ):
        time.sleep(0.005)
    return alive


def _following_start(original: Callable[[threading.Thread], None]) -> Callable[[threading.Thread], None]:
    @functools.wraps(original)
    def start(thread: threading.Thread) -> None:
        run = active_run()
        if run is not None and _is_own(inspect.currentframe(), frozenset({"threading"})):
            run.threads.append((thread, _name(getattr(thread, "_target", None) or type(thread))))
            vars(thread)["run"] = functools.partial(_in_run, run, thread.run)
        original(thread)

    start.follows_run = True  # type: ignore[attr-defined]  # a mark of ours
    return start


def _following_submit(original: Callable[..., Future[Any]]) -> Callable[..., Future[Any]]:
    @functools.wraps(original)
    def submit(pool: ThreadPoolExecutor, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        run = active_run()
        if run is None or not _is_own(inspect.currentframe(), _PLUMBING):
            return original(pool, work, *args, **kwargs)
        future = original(pool, _in_run, run, work, *args, **kwargs)
        run.threads.append((future, _name(work)))
        return future

    return submit


def _following_task(original: Callable[..., asyncio.Task[Any]]) -> Callable[..., asyncio.Task[Any]]:
    @functools.wraps(original)
    def create_task(loop: asyncio.BaseEventLoop, work: Any, *args: Any, **kwargs: Any) -> asyncio.Task[Any]:
        task = original(loop, work, *args, **kwargs)
        run = active_run()
        if run is not None and _is_own(inspect.currentframe(), _PLUMBING):
            run.threads.append((task, getattr(work, "__qualname__", type(work).__qualname__)))
        return task

    return create_task


def _in_run(run: Run, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    token = current_run.set(run)
    try:
        return work(*args, **kwargs)
    finally:
        current_run.reset(token)


def _is_own(frame: FrameType | None, plumbing: frozenset[str]) -> bool:
    """Whether the code of a project asked for it: the first that is neither ours nor plumbing."""
    frame = frame.f_back if frame is not None else None
    while frame is not None and _package(frame) in plumbing:
        frame = frame.f_back
    if frame is None or _package(frame) in _PACKAGES:
        return False
    place = frame.f_code.co_filename
    return not place.startswith((*_LIBRARIES, "<frozen ")) and _INSTALLED.isdisjoint(PurePath(place).parts)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def _name(work: Any) -> str:
    while isinstance(work, functools.partial):
        work = work.func
    return f"{getattr(work, '__module__', '?')}.{getattr(work, '__qualname__', type(work).__qualname__)}"
