"""The sync and the async runner, and the driver of sync calls (DESIGN §4, §12.7.7)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from time import monotonic, sleep
from types import CoroutineType
from typing import Any, TypeVar

from asgiref.sync import async_to_sync, iscoroutinefunction, sync_to_async

from apcore.approval import EffectDriftError
from apcore.context import CancelToken, Context
from apcore.effects import NO_EFFECT, EffectRecord
from apcore.errors import InternalError
from apcore.execution.deadlines import Deadlines
from apcore.execution.endings import as_callers_see
from apcore.execution.iteration import iterate
from apcore.execution.loops import LoopThread, parent_loop, running_parent_loop
from apcore.pipeline import Body, Invocation

T = TypeVar("T")

_SLICE = 0.02


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

    def call_within(self, deadline: float | None, context: Context, function: Callable[..., Any], /, *args: Any) -> Any:
        """Call ``function`` until ``deadline``. Raises ModuleTimeoutError past it (§12.7.5)."""
        if deadline is None:
            return complete(function, *args)
        result = self._deadlines.run(deadline, context, function, args)
        if result is None or type(result) is dict or not _is_awaitable(result):
            return result
        # Starting and serving a loop is nothing to be interrupted in; the steps of the coroutine are.
        return _on_a_loop(self._deadlines.wait, deadline, context, function, result)

    def iterate(
        self, deadline: float | None, context: Context, function: Callable[..., Any], /, *args: Any
    ) -> AsyncGenerator[Any, None]:
        """The chunks of ``function``; an async generator keeps one loop for all of them."""
        deadlines, loop = self._deadlines, LoopThread()
        return iterate(self.call, self.call_within, deadline, context, function, *args, deadlines=deadlines, loop=loop)

    async def pause(self, seconds: float, token: CancelToken | None) -> None:
        """Sleep on the caller's thread; a cancelled token is noticed within `_SLICE` seconds."""
        _sleep(monotonic() + seconds, token)

    async def can_run_again(self) -> bool:
        """Without transactions there is none that an error could have broken."""
        return True

    def execute(self, invocation: Invocation, body: Body) -> Awaitable[None]:
        """No transaction in pure Python: just run it. Raises EffectDriftError when a measured effect was approved."""
        _refuse_what_must_be_measured(invocation)
        return body(self)

    async def measure(self, invocation: Invocation, body: Body) -> EffectRecord | None:
        """Pure Python cannot undo what a module did, so it does not try."""
        return None


class AsyncRunner:
    """Awaits coroutine functions; sync ones run on the thread that asgiref keeps for thread-sensitive code."""

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines = deadlines

    async def call(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Await ``function``, or run it on the thread-sensitive thread."""
        try:
            if iscoroutinefunction(function):
                return await function(*args)
            return await _settled(await _on_the_thread(_plainly, function, *args))
        except BaseException as error:
            seen = as_callers_see(error, function)
            if seen is error:
                raise
            raise seen from error

    async def call_within(
        self, deadline: float | None, context: Context, function: Callable[..., Any], /, *args: Any
    ) -> Any:
        """Like ``call`` until ``deadline``. Raises ModuleTimeoutError past it (§12.7.5)."""
        if deadline is None:
            return await self.call(function, *args)
        if iscoroutinefunction(function):
            result = function(*args)
        else:
            result = await _on_the_thread(self._deadlines.run, deadline, context, function, args)
        return await self._deadlines.wait(deadline, context, function, result) if _is_awaitable(result) else result

    def iterate(
        self, deadline: float | None, context: Context, function: Callable[..., Any], /, *args: Any
    ) -> AsyncGenerator[Any, None]:
        """The chunks of ``function``; a sync generator runs on the thread-sensitive thread, chunk by chunk."""
        return iterate(self.call, self.call_within, deadline, context, function, *args, deadlines=self._deadlines)

    async def pause(self, seconds: float, token: CancelToken | None) -> None:
        """Give the loop to others meanwhile; a cancelled token is noticed within `_SLICE` seconds."""
        end = monotonic() + seconds
        # A token may be cancelled from any thread, and wakes nobody.
        while (left := end - monotonic()) > 0 and not (token is not None and token.is_cancelled):  # noqa: ASYNC110 - see above
            await asyncio.sleep(min(left, _SLICE))

    async def can_run_again(self) -> bool:
        """Without transactions there is none that an error could have broken."""
        return True

    def execute(self, invocation: Invocation, body: Body) -> Awaitable[None]:
        """No transaction in pure Python: just run it. Raises EffectDriftError when a measured effect was approved."""
        _refuse_what_must_be_measured(invocation)
        return body(self)

    async def measure(self, invocation: Invocation, body: Body) -> EffectRecord | None:
        """Pure Python cannot undo what a module did, so it does not try."""
        return None


def _sleep(end: float, token: CancelToken | None) -> None:
    while (left := end - monotonic()) > 0 and not (token is not None and token.is_cancelled):
        sleep(min(left, _SLICE))


def complete(function: Callable[..., Any], /, *args: Any) -> Any:
    """The result of ``function``, awaited on a loop of its own if it is awaitable (§12.7.7, sync to async)."""
    try:
        result = function(*args)
        return _on_a_loop(_settled, result) if _is_awaitable(result) else result
    except BaseException as error:
        seen = as_callers_see(error, function)
        if seen is error:
            raise
        raise seen from error


def _on_a_loop(function: Callable[..., Coroutine[Any, Any, Any]], /, *args: Any) -> Any:
    if not _loop_is_running():
        return async_to_sync(function)(*args)
    # This thread's loop waits for us and cannot run it: a sync call inside a loop is rare, and worth a thread.
    variables, loop = copy_context(), running_parent_loop()

    def on_another_thread() -> Any:
        with parent_loop(loop):
            return async_to_sync(function)(*args)

    with ThreadPoolExecutor(max_workers=1) as pool:
        try:
            return pool.submit(variables.run, on_another_thread).result()
        finally:
            for variable, value in variables.items():
                if variable.get(None) is not value:
                    variable.set(value)


_on_the_thread = sync_to_async(lambda function, *args: function(*args), thread_sensitive=True)


def _plainly(function: Callable[..., Any], /, *args: Any) -> Any:
    """``function(*args)``, and what it raises as a future can carry it from thread to thread."""
    try:
        return function(*args)
    except BaseException as error:
        seen = as_callers_see(error, function)
        if seen is error:
            raise
        raise seen from error


def _refuse_what_must_be_measured(invocation: Invocation) -> None:
    approved = invocation.grant.effect_digest if invocation.grant is not None else None
    if invocation.definition.effect == "transactional" and approved not in (None, NO_EFFECT.digest):
        raise EffectDriftError(NO_EFFECT)


async def _settled(result: Any) -> Any:
    return await result if _is_awaitable(result) else result


def _is_awaitable(result: Any) -> bool:
    return type(result) is CoroutineType or hasattr(result, "__await__")


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
