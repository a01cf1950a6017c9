"""The way of one call through its middleware (§11.5, §11.8)."""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Awaitable, Callable, Mapping
from types import CoroutineType
from typing import Any, Protocol

from apcore.context import Context, is_cancelled_from_outside
from apcore.errors import InternalError, MiddlewareChainError, ModuleError, ModuleTimeoutError
from apcore.middleware.base import Retry
from apcore.middleware.layers import Layer, Onion

logger = logging.getLogger("apcore.middleware")


class Invoker(Protocol):
    """Runs hooks, sync or async, within the deadline of a call: the runner of the pipeline."""

    def call_within(self, deadline: float | None, context: Context, function: Callable[..., Any], /, *args: Any) -> Any:
        """What ``function(*args)`` gives, or a coroutine that does. Raises ModuleTimeoutError past the deadline."""
        ...


Allows = Callable[[Retry], Awaitable[bool]]


class Passage:
    """One call's way in and out. Only layers whose ``before()`` was entered see the way out (§11.5).

    Plain functions that follow each other run in one go, under one deadline and on one thread. It is handed the runner
    each time: if it held the call that holds it, every call would leave a cycle for the garbage collector.
    """

    __slots__ = (
        "_context",
        "_entered",
        "_has_begun",
        "_hook",
        "_inputs",
        "_kept",
        "_left",
        "_module_id",
        "_onion",
        "_output",
    )

    def __init__(self, onion: Onion, module_id: str, context: Context) -> None:
        self._onion = onion
        self._module_id = module_id
        self._context = context
        self._entered = 0  # how many layers were entered, from outside
        self._kept: dict[int, Mapping[str, Any]] = {}

    @property
    def whereabouts(self) -> str:
        """The hook that runs just now, for the log: another thread asks, while this one may go on."""
        if self._hook == "before":
            index = max(self._entered - 1, 0)
        else:
            index = min(self._left if self._hook == "after" else self._entered, self._onion.depth - 1)
        return f"{self._hook}() of middleware {self._onion.layers[index].id}"

    def before(self, inputs: Mapping[str, Any], runner: Invoker) -> Any:
        """The inputs after every ``before()``, outermost first (§11.8.2). Goes on where a retry has to begin.

        A coroutine gives them where a hook has to be waited for.
        """
        self._hook = "before"
        self._inputs = copy.deepcopy(self._kept[self._entered - 1]) if self._entered else inputs
        waiting, context, onion = None, self._context, self._onion
        if onion.plain_in[self._entered]:
            waiting = runner.call_within(context.deadline, context, self._enter_plain)
            if waiting is None and self._entered == onion.depth:
                return self._inputs
        return self._enter_the_rest(waiting, runner)

    async def _enter_the_rest(self, waiting: Awaitable[None] | None, runner: Invoker) -> Mapping[str, Any]:
        context, onion = self._context, self._onion
        while True:
            if waiting is not None:
                await waiting
            if self._entered == onion.depth:
                return self._inputs
            enter = self._enter_plain if onion.plain_in[self._entered] else self._enter_waiting
            waiting = runner.call_within(context.deadline, context, enter)

    def _enter_plain(self) -> Awaitable[None] | None:
        """Enter all layers up to the next coroutine; what has to be awaited, if a plain function returned such."""
        module_id, context = self._module_id, self._context
        try:
            for depth, layer, hook in self._onion.plain_in[self._entered]:
                self._entered = depth
                if hook is not None:
                    replacement = hook(module_id, self._inputs, context)
                    if replacement is not None:
                        if hasattr(replacement, "__await__"):
                            return self._settle(layer, replacement)
                        self._inputs = _as_dict(replacement, layer, "before")
                if layer.can_retry:
                    self._keep_inputs()
        except ModuleError:
            raise
        except Exception as error:
            raise _chain_error(layer, error) from error
        return None

    async def _enter_waiting(self) -> None:
        """Enter a layer that is waited for. One whose turn comes too late was not entered, and hears of no error."""
        layer = self._onion.layers[self._entered]
        self._entered += 1
        assert layer.before is not None
        await self._settle(layer, layer.before(self._module_id, self._inputs, self._context))

    async def _settle(self, layer: Layer, awaitable: Awaitable[Any]) -> None:
        replacement = await _from_hook(awaitable, layer)
        if replacement is not None:
            self._inputs = _as_dict(replacement, layer, "before")
        if layer.can_retry:
            self._keep_inputs()

    def _keep_inputs(self) -> None:
        """For another attempt; inputs that cannot be copied allow none."""
        try:
            self._kept[self._entered - 1] = copy.deepcopy(self._inputs)
        except Exception as error:  # noqa: BLE001 - whatever a foreign __deepcopy__ raises
            logger.warning("Inputs of %s cannot be copied: no retry (%s)", self._module_id, type(error).__name__)

    def after(self, output: Any, runner: Invoker) -> Any:
        """The output after every ``after()``, innermost first; the same object when nobody replaced it (§11.8.3).

        A coroutine gives it where a hook has to be waited for.
        """
        self._hook = "after"
        self._output, self._left = output, self._entered  # how many layers were not left yet
        waiting, context = None, self._context
        if self._onion.plain_out[self._left]:
            waiting = runner.call_within(context.deadline, context, self._leave_plain)
            if waiting is None and not self._left:
                return self._output
        return self._leave_the_rest(waiting, runner)

    async def _leave_the_rest(self, waiting: Awaitable[None] | None, runner: Invoker) -> Any:
        context = self._context
        while True:
            if waiting is not None:
                await waiting
            if not self._left:
                return self._output
            leave = self._leave_plain if self._onion.plain_out[self._left] else self._leave_waiting
            waiting = runner.call_within(context.deadline, context, leave)

    def _leave_plain(self) -> Awaitable[None] | None:
        """Leave all layers up to the next coroutine; what has to be awaited, if a plain function returned such."""
        module_id, inputs, context = self._module_id, self._inputs, self._context
        try:
            for depth, layer, hook in self._onion.plain_out[self._left]:
                self._left = depth
                if hook is not None:
                    replacement = hook(module_id, inputs, self._output, context)
                    if replacement is not None:
                        if hasattr(replacement, "__await__"):
                            return self._take(layer, replacement)
                        self._output = _as_dict(replacement, layer, "after")
        except ModuleError:
            raise
        except Exception as error:
            raise _chain_error(layer, error) from error
        return None

    async def _leave_waiting(self) -> None:
        self._left -= 1
        layer = self._onion.layers[self._left]
        assert layer.after is not None
        await self._take(layer, layer.after(self._module_id, self._inputs, self._output, self._context))

    async def _take(self, layer: Layer, awaitable: Awaitable[Any]) -> None:
        replacement = await _from_hook(awaitable, layer)
        if replacement is not None:
            self._output = _as_dict(replacement, layer, "after")

    async def recover(self, error: ModuleError, runner: Invoker, allows: Allows | None = None) -> Any:
        """The first value that an ``on_error()`` returns, innermost first; None when all leave the error (§11.8.1).

        A `Retry` that ``allows`` agrees to is such a value: the next ``before()`` goes on behind the layer that
        asked for it. One that is not allowed counts as None.
        """
        self._hook = "on_error"
        while self._entered:
            self._entered -= 1  # whatever comes of it, it is told once
            layer = self._onion.layers[self._entered]
            if layer.on_error is None:
                continue
            self._has_begun = False
            try:
                answer = await self._tell(layer, error, runner)
            except ModuleTimeoutError:
                logger.error("on_error() of %s timed out; the chain stops", layer.id)
                self._entered = 0
                return None
            except asyncio.CancelledError:
                if is_cancelled_from_outside():
                    self._entered += not self._has_begun
                    raise
                logger.error("on_error() of %s failed: it awaited something that was cancelled", layer.id)
                continue
            except Exception as failure:  # noqa: BLE001 - whatever it is, the caller hears of the first error
                what = failure.message if isinstance(failure, ModuleError) else type(failure).__name__
                logger.error("on_error() of %s failed: %s", layer.id, what)
                continue
            if isinstance(answer, Retry):
                if await self._may_retry(self._entered, answer, allows):
                    self._entered += 1
                    return answer
            elif answer is not None:
                return answer
        return None

    async def _tell(self, layer: Layer, error: ModuleError, runner: Invoker) -> Any:
        context, tell = self._context, self._tell_waiting if layer.waits_on_error else self._tell_plain
        answer = runner.call_within(context.deadline, context, tell, layer, error)
        return await answer if type(answer) is CoroutineType else answer

    def _tell_plain(self, layer: Layer, error: ModuleError) -> Any:
        """Cancelled before this begins, while it waits for its thread, the layer was not told yet."""
        self._has_begun = True
        assert layer.on_error is not None
        return layer.on_error(self._module_id, self._inputs, error, self._context)

    async def _tell_waiting(self, layer: Layer, error: ModuleError) -> Any:
        self._has_begun = True
        assert layer.on_error is not None
        return await layer.on_error(self._module_id, self._inputs, error, self._context)

    async def abandon(self, error: ModuleError, runner: Invoker) -> None:
        """Tell all layers that were not told yet, whatever they answer: nobody waits for this call any more.

        Raises CancelledError at the end if the task is cancelled meanwhile, which ends the hook that just runs.
        """
        once_more: asyncio.CancelledError | None = None
        while self._entered:
            try:
                await self.recover(error, runner)
            except asyncio.CancelledError as cancelled:
                once_more = cancelled
        if once_more is not None:
            raise once_more

    async def _may_retry(self, index: int, retry: Retry, allows: Allows | None) -> bool:
        layer = self._onion.layers[index]
        if not layer.can_retry:
            logger.error("%s asks for a retry and does not say can_retry = True (§11.1)", layer.id)
            return False
        return index in self._kept and allows is not None and await allows(retry)


async def _from_hook(awaitable: Awaitable[Any], layer: Layer) -> Any:
    try:
        return await awaitable
    except ModuleError:
        raise
    except Exception as error:
        raise _chain_error(layer, error) from error


def _chain_error(layer: Layer, error: Exception) -> MiddlewareChainError:
    return MiddlewareChainError(f"Middleware {layer.id} failed: {type(error).__name__}", cause=error)


def _as_dict(value: Any, layer: Layer, hook: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InternalError(f"{layer.id}: {hook}() must return a dict or None, not {type(value).__name__} (§11.8.2)")
    return value
