"""Reading what a module's ``stream()`` returns, sync or async, chunk by chunk within the deadline (§12.2, §12.7.5)."""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final

from apcore.context import Context
from apcore.errors import ModuleExecuteError
from apcore.execution.deadlines import Deadlines
from apcore.execution.loops import LoopThread
from apcore.pipeline import settled

logger = logging.getLogger("apcore.execution")

END: Final = object()
"""What reading gives after the last chunk."""

_SHORTEST_GRACE: Final = 1.0

Call = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Both are called through the runner; ``is_async`` tells whether they want a loop."""

    take: Callable[[], Any]
    close: Callable[[], Any]
    is_async: bool


async def iterate(
    call: Call,
    call_within: Callable[..., Any],
    deadline: float | None,
    context: Context,
    function: Callable[..., Any],
    *args: Any,
    deadlines: Deadlines,
    loop: LoopThread | None = None,
) -> AsyncGenerator[Any, None]:
    """The chunks of ``function(*args)``, each read by ``call_within`` the deadline; closed however the reading ends.

    ``loop`` is where an async generator lives whose reader is sync; it is used only then. Closing may take the
    period of grace. Raises ModuleTimeoutError past the deadline and ModuleExecuteError for what cannot be iterated.
    """
    source = await _source(call_within, deadline, context, function, *args)
    reader = _reader(source, context, deadlines)

    def at_hand() -> AbstractContextManager[None]:
        return loop.at_hand() if loop is not None and reader.is_async else nullcontext()

    chunk = None
    try:
        while True:
            with at_hand():
                chunk = await settled(call_within(deadline, context, reader.take))
            if chunk is END:
                return
            yield chunk
    finally:
        try:
            if chunk is not END:
                with at_hand():
                    await call(reader.close)
        except Exception as error:  # noqa: BLE001 - how the stream ended is known; this is only the tidying up
            logger.warning("Closing stream() of %s failed (%s)", _name(context), type(error).__name__)
        finally:
            if loop is not None:
                loop.close()


async def _source(
    call_within: Callable[..., Any],
    deadline: float | None,
    context: Context,
    function: Callable[..., Any],
    *args: Any,
) -> Any:
    if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        return function(*args)  # runs nothing yet
    return await settled(call_within(deadline, context, function, *args))


def _reader(source: Any, context: Context, deadlines: Deadlines) -> _Reader:
    """Its time to close begins when closing begins, not while it waits for its thread or its loop."""
    grace = max(deadlines.grace, _SHORTEST_GRACE)
    if hasattr(source, "__aiter__"):
        iterator = aiter(source)

        async def take_async() -> Any:
            return await anext(iterator, END)

        async def close_async() -> None:
            if hasattr(iterator, "aclose"):
                await deadlines.wait(monotonic() + grace, context, iterator.aclose, iterator.aclose())

        return _Reader(take_async, close_async, is_async=True)
    if not hasattr(source, "__iter__"):
        raise ModuleExecuteError(
            f"stream() of {_name(context)!r} must be a generator or return an iterator, not {type(source).__name__}"
        )
    chunks = iter(source)

    def take() -> Any:
        return next(chunks, END)

    def close() -> None:
        if hasattr(chunks, "close"):
            deadlines.run(monotonic() + grace, context, chunks.close)

    return _Reader(take, close, is_async=False)


def _name(context: Context) -> str:
    return context.call_chain[-1] if context.call_chain else "?"
