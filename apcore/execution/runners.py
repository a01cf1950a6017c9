"""The sync and the async runner, and the driver of sync calls (DESIGN §4, §12.7.7)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from types import CoroutineType
from typing import Any, TypeVar

from asgiref.sync import async_to_sync, iscoroutinefunction, sync_to_async

from apcore.context import Context
from apcore.effects import EffectRecord
from apcore.errors import InternalError
from apcore.execution.deadlines import Deadlines, timed_out
from apcore.pipeline import Body, Invocation

T = TypeVar("T")


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends: one step, no event loop.

    Raises InternalError when it does suspend, which means that something bypassed the runner.
    """
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]  # StopIteration is not generic
    coroutine.close()
    raise InternalError("The pipeline suspended under the sync runner: a step awaited something other than the runner")


class SyncRunner:
    """Runs everything on the caller's thread; coroutine functions get a loop of their own for as long as they run."""

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines = deadlines

    async def call(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Call ``function``; an awaitable result is awaited to its end."""
        return complete(function, *args)

    async def call_within(
        self, deadline: float | None, context: Context, function: Callable[..., Any], /, *args: Any
    ) -> Any:
        """Call ``function`` until ``deadline``. Raises ModuleTimeoutError past it (§12.7.5)."""
        if deadline is None:
            return complete(function, *args)
        return self._deadlines.run(deadline, context, complete, function, *args)

    async def execute(self, invocation: Invocation, body: Body) -> None:
        """No transaction in pure Python: just run it."""
        await body(self)

    async def measure(self, invocation: Invocation, body: Body) -> EffectRecord | None:
        """Pure Python cannot undo what a module did, so it does not try."""
        return None


class AsyncRunner:
    """Awaits coroutine functions; sync ones run on the thread that asgiref keeps for thread-sensitive code."""

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines = deadlines

    async def call(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Await ``function``, or run it on the thread-sensitive thread."""
        if iscoroutinefunction(function):
            return await function(*args)
        return await _settled(await sync_to_async(function, thread_sensitive=True)(*args))

    async def call_within(
        self, deadline: float | None, context: Context, function: Callable[..., Any], /, *args: Any
    ) -> Any:
        """Like ``call`` until ``deadline``. Raises ModuleTimeoutError past it (§12.7.5)."""
        if deadline is None:
            return await self.call(function, *args)
        if not iscoroutinefunction(function):
            run = sync_to_async(self._deadlines.run, thread_sensitive=True)
            return await _settled(await run(deadline, context, function, *args))
        signal = None
        if context.cancel_token is not None:
            signal = asyncio.get_running_loop().call_at(
                deadline, context.cancel_token.cancel, "the deadline has passed"
            )
        try:
            async with asyncio.timeout_at(deadline) as limit:
                return await function(*args)
        except TimeoutError:
            if limit.expired():
                raise timed_out(context) from None
            raise
        finally:
            if signal is not None:
                signal.cancel()

    async def execute(self, invocation: Invocation, body: Body) -> None:
        """No transaction in pure Python: just run it."""
        await body(self)

    async def measure(self, invocation: Invocation, body: Body) -> EffectRecord | None:
        """Pure Python cannot undo what a module did, so it does not try."""
        return None


def complete(function: Callable[..., Any], /, *args: Any) -> Any:
    """The result of ``function``, awaited on a loop of its own if it is awaitable (§12.7.7, sync to async)."""
    result = function(*args)
    if type(result) is not CoroutineType and not hasattr(result, "__await__"):
        return result
    if not _loop_is_running():
        return async_to_sync(_settled)(result)
    # This thread's loop waits for us and cannot run it: a sync call inside a loop is rare, and worth a thread.
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(copy_context().run, asyncio.run, _settled(result)).result()


async def _settled(result: Any) -> Any:
    return await result if hasattr(result, "__await__") else result


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
