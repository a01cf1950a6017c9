"""How chunks leave a running pipeline: it pauses at each until the consumer wants the next (§12.2).

The pipeline of a stream is that of a call. Where the execute step has a chunk it awaits ``hand_out(chunk)``, which
suspends the whole coroutine with the chunk in its hand; whoever drives it passes the chunk on and resumes it later. So
every ``with`` and ``finally`` on the way, a transaction for one, stays open between chunks and ends when the stream
does, however that is.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from apcore.errors import InternalError
from apcore.execution.windows import Shielded, inside_call, let_interrupt_in, shielded_step

CONSUMER_LEFT: Final = "the consumer closed the stream"
"""The reason in the cancel token of a stream that nobody reads any more."""

CALLER_CANCELLED: Final = "the caller was cancelled"
"""The reason in the cancel token of a call whose task was cancelled."""


class ConsumerLeft(BaseException):
    """Raised at the chunk where an async stream stops. Unlike GeneratorExit it lets coroutines await on the way out."""


Leave = Callable[[str], None]
"""Told why nobody waits for a call any more, before the call is unwound."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One part of a stream on its way out."""

    value: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Finished:
    """What the coroutine returned when it had no more chunks."""

    output: Any


@types.coroutine
def hand_out(chunk: dict[str, Any]) -> Generator[Any, Any, None]:
    """Suspend until the consumer has taken ``chunk`` and asks for the next.

    If it never does, this raises GeneratorExit in a sync stream and ConsumerLeft in an async one.
    """
    yield Chunk(chunk)


class Paused:
    """A coroutine of the sync runner, run chunk by chunk on the caller's thread, in context variables of its own.

    What the module sets there must neither leak to the consumer between two chunks nor get lost.
    """

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._coroutine = coroutine
        self._variables = copy_context()

    def next(self) -> Chunk | Finished:
        """Run to the next chunk, or to the end. Raises what the coroutine raises."""
        with Shielded():
            try:
                handed = self._variables.run(self._coroutine.send, None)
            except StopIteration as done:
                return Finished(done.value)
        if isinstance(handed, Chunk):
            return handed
        self.close()
        raise InternalError("The pipeline suspended under the sync runner: a step awaited something else than it")

    def close(self) -> None:
        """End it where it stands, as if the pause had raised; nothing happens after its end."""
        with Shielded():
            self._variables.run(self._coroutine.close)


def paused_chunks(begin: Callable[[], Coroutine[Any, Any, Any]], leave: Leave) -> Generator[dict[str, Any], None, Any]:
    """The chunks of a coroutine of the sync runner; the generator returns what the coroutine returns.

    The consumer may be a module, which is interrupted at its deadline: never between two halves of what belongs
    together, and wherever it is, the coroutine is closed.
    """
    paused: Paused | None = None
    try:
        while True:
            with Shielded():
                paused = paused or Paused(begin())
                chunk = paused.next()
            if not isinstance(chunk, Chunk):
                return chunk.output
            yield chunk.value
    except GeneratorExit:
        leave(CONSUMER_LEFT)
        raise
    finally:
        if paused is not None:
            try:
                paused.close()
            finally:
                paused.close()  # an interrupt may have come on the way into the first


async def awaited_chunks(
    coroutine: Coroutine[Any, Any, Any], leave: Leave, finish: Callable[[Any], None]
) -> AsyncGenerator[dict[str, Any], None]:
    """The chunks of a coroutine of the async runner; ``finish`` is told what it returns."""
    try:
        while isinstance(chunk := await _to_next_chunk(coroutine, leave), Chunk):
            try:
                let_interrupt_in()
                yield chunk.value
            except BaseException:
                leave(CONSUMER_LEFT)
                await _unwind(coroutine, leave)
                raise
        finish(chunk.output)
    finally:
        coroutine.close()
        let_interrupt_in()


@types.coroutine
def _to_next_chunk(
    coroutine: Coroutine[Any, Any, Any], leave: Leave, error: BaseException | None = None
) -> Generator[Any, Any, Chunk | Finished]:
    """Run to the next chunk; whatever else it suspends with is for the event loop, and passed on to it."""
    with inside_call():
        return (yield from _steps_to_next_chunk(coroutine, leave, error))


def _steps_to_next_chunk(
    coroutine: Coroutine[Any, Any, Any], leave: Leave, error: BaseException | None
) -> Generator[Any, Any, Chunk | Finished]:
    step = partial(coroutine.send, None) if error is None else partial(coroutine.throw, error)
    while True:
        try:
            waiting = shielded_step(step)
        except StopIteration as done:
            return Finished(done.value)
        if isinstance(waiting, Chunk):
            return waiting
        try:
            answer = yield waiting
        except BaseException as raised:  # noqa: BLE001 - whatever it is, it is the coroutine's
            if isinstance(raised, asyncio.CancelledError):
                leave(CALLER_CANCELLED)
            step = partial(coroutine.throw, raised)
        else:
            step = partial(coroutine.send, answer)


async def _unwind(coroutine: Coroutine[Any, Any, Any], leave: Leave) -> None:
    """End a coroutine that pauses at a chunk. Raises what goes wrong on its way out."""
    try:
        await _to_next_chunk(coroutine, leave, ConsumerLeft())
    except ConsumerLeft:
        return
