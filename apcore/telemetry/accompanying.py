"""Context variables that are set while code of others runs, and at no other time."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractContextManager
from types import CoroutineType
from typing import Any, Final

_END: Final = object()

Scope = Callable[[], AbstractContextManager[Any]]


class AccompaniedRunner:
    """A runner that enters ``scope()`` around each piece of foreign code.

    A stream pauses between its chunks, and whoever reads it goes on meanwhile, on the same thread and in the same
    context: variables of the call must not be set then.
    """

    def __init__(self, runner: Any, scope: Scope) -> None:
        self._runner = runner
        self._scope = scope

    async def call(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """As the runner's own."""
        with self._scope():
            return await self._runner.call(function, *args)

    async def call_within(
        self, deadline: float | None, context: Any, function: Callable[..., Any], /, *args: Any
    ) -> Any:
        """As the runner's own."""
        with self._scope():
            result = self._runner.call_within(deadline, context, function, *args)
            return await result if type(result) is CoroutineType else result

    async def iterate(
        self, deadline: float | None, context: Any, function: Callable[..., Any], /, *args: Any
    ) -> AsyncGenerator[Any, None]:
        """As the runner's own."""
        chunks = self._runner.iterate(deadline, context, function, *args)
        try:
            while True:
                with self._scope():
                    chunk = await anext(chunks, _END)
                if chunk is _END:
                    return
                yield chunk
        finally:
            with self._scope():
                await chunks.aclose()

    async def execute(self, invocation: Any, body: Callable[[Any], Awaitable[Any]]) -> Any:
        """As the runner's own; the runner that the body gets is accompanied, too."""
        return await self._runner.execute(invocation, self._accompanied(body))

    async def measure(self, invocation: Any, body: Callable[[Any], Awaitable[Any]]) -> Any:
        """As the runner's own; the runner that the body gets is accompanied, too."""
        return await self._runner.measure(invocation, self._accompanied(body))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runner, name)

    def _accompanied(self, body: Callable[[Any], Awaitable[Any]]) -> Callable[[Any], Awaitable[Any]]:
        async def accompanied(runner: Any) -> Any:
            return await body(AccompaniedRunner(runner, self._scope))

        return accompanied
