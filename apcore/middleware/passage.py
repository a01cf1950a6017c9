"""The way of one call through its middleware (§11.5, §11.8)."""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import CoroutineType
from typing import Any, Final, Protocol

from asgiref.sync import iscoroutinefunction

from apcore.context import Context, is_cancelled_from_outside
from apcore.errors import InternalError, MiddlewareChainError, ModuleError, ModuleTimeoutError
from apcore.middleware.base import Middleware, Retry

logger = logging.getLogger("apcore.middleware")

Hook = Callable[..., Any]


class Invoker(Protocol):
    """Runs a hook, sync or async, within the deadline of a call: the runner of the pipeline."""

    def call_within(self, deadline: float | None, context: Context, function: Callable[..., Any], /, *args: Any) -> Any:
        """What ``function(*args)`` gives, or a coroutine that does. Raises ModuleTimeoutError past the deadline."""
        ...


Allows = Callable[[Retry], Awaitable[bool]]

_DONE: Final = object()


@dataclass(frozen=True, slots=True)
class Layer:
    """One registered middleware, with the hooks that it really has."""

    id: str
    priority: int
    middleware: Any
    before: Hook | None
    after: Hook | None
    on_error: Hook | None
    waits_before: bool
    waits_after: bool
    can_retry: bool

    @classmethod
    def of(cls, middleware: Any, id: str, priority: int) -> Layer:  # noqa: A002 - the protocol's word (§11.2)
        """The layer of ``middleware``; a hook inherited from the base class does nothing and is left out."""
        before, after, on_error = (_own_hook(middleware, name) for name in ("before", "after", "on_error"))
        return cls(
            id,
            priority,
            middleware,
            before,
            after,
            on_error,
            waits_before=iscoroutinefunction(before),
            waits_after=iscoroutinefunction(after),
            can_retry=bool(getattr(middleware, "can_retry", False)),
        )


def _own_hook(middleware: Any, name: str) -> Hook | None:
    hook = getattr(middleware, name, None)
    if not callable(hook) or getattr(hook, "__func__", None) is getattr(Middleware, name):
        return None
    return hook  # type: ignore[no-any-return]  # whatever is callable


class Passage:
    """One call's way in and out. Only layers whose ``before()`` was entered see the way out (§11.5).

    Plain functions that follow each other run in one go, under one deadline and on one thread. It is handed the runner
    each time: if it held the call that holds it, every call would leave a cycle for the garbage collector.
    """

    __slots__ = ("_context", "_entered", "_kept", "_layers", "_left", "_module_id", "inputs", "output")

    def __init__(self, layers: tuple[Layer, ...], module_id: str, context: Context) -> None:
        self._layers = layers
        self._module_id = module_id
        self._context = context
        self._entered = 0  # how many layers were entered, from outside
        self._left = 0  # how many of them were not left yet
        self._kept: dict[int, Mapping[str, Any]] = {}
        self.inputs: Mapping[str, Any] = {}
        self.output: Any = None

    def before(self, inputs: Mapping[str, Any], runner: Invoker) -> Any:
        """The inputs after every ``before()``, outermost first (§11.8.2). Goes on where a retry has to begin.

        A coroutine gives them where a hook has to be waited for.
        """
        self.inputs = copy.deepcopy(self._kept[self._entered - 1]) if self._entered else inputs
        replacement = self._enter_while_plain(runner)
        if replacement is _DONE and self._entered == len(self._layers):
            return self.inputs
        return self._before(replacement, runner)

    async def _before(self, replacement: Any, runner: Invoker) -> Mapping[str, Any]:
        layers = self._layers
        while True:
            if type(replacement) is CoroutineType:
                replacement = await _from_hook(replacement, self._last_entered)
            if replacement is not _DONE:
                self._settle(self._last_entered(), replacement)
            elif self._entered == len(layers):
                return self.inputs
            else:
                layer = layers[self._entered]
                self._settle(layer, await self._call(runner, layer, self._enter, layer))
            replacement = self._enter_while_plain(runner)

    async def _enter(self, module_id: str, layer: Layer, context: Context) -> Any:
        """Enter a layer that is waited for. One whose turn comes too late was not entered, and hears of no error."""
        self._entered += 1
        assert layer.before is not None
        return await layer.before(module_id, self.inputs, context)

    def _enter_while_plain(self, runner: Invoker) -> Any:
        """Enter all layers up to the next coroutine, in one go."""
        layers, context = self._layers, self._context
        if self._entered == len(layers) or layers[self._entered].waits_before:
            return _DONE
        try:
            return runner.call_within(context.deadline, context, self._enter_plain_layers)
        except ModuleError:
            raise
        except Exception as error:
            raise _chain_error(self._last_entered(), error) from error

    def _enter_plain_layers(self) -> Any:
        """What an awaitable that a plain function returned gives, its layer entered, or _DONE."""
        module_id, context = self._module_id, self._context
        for layer in self._layers[self._entered :]:
            if layer.waits_before:
                break
            self._entered += 1
            hook = layer.before
            replacement = None if hook is None else hook(module_id, self.inputs, context)
            if replacement is not None or layer.can_retry:
                if hasattr(replacement, "__await__"):
                    return replacement
                self._settle(layer, replacement)
        return _DONE

    def _last_entered(self) -> Layer:
        return self._layers[self._entered - 1]

    def _settle(self, layer: Layer, replacement: Any) -> None:
        if replacement is not None:
            self.inputs = _as_dict(replacement, layer, "before")
        if layer.can_retry:
            self._keep_inputs()

    def _keep_inputs(self) -> None:
        """For another attempt; inputs that cannot be copied allow none."""
        try:
            self._kept[self._entered - 1] = copy.deepcopy(self.inputs)
        except Exception as error:  # noqa: BLE001 - whatever a foreign __deepcopy__ raises
            logger.warning("Inputs of %s cannot be copied: no retry (%s)", self._module_id, type(error).__name__)

    def after(self, output: Any, runner: Invoker) -> Any:
        """The output after every ``after()``, innermost first; the same object when nobody replaced it (§11.8.3).

        A coroutine gives it where a hook has to be waited for.
        """
        self.output, self._left = output, self._entered
        replacement = self._leave_while_plain(runner)
        if replacement is _DONE and not self._left:
            return self.output
        return self._after(replacement, runner)

    async def _after(self, replacement: Any, runner: Invoker) -> Any:
        while True:
            if type(replacement) is CoroutineType:
                replacement = await _from_hook(replacement, self._last_left)
            if replacement is not _DONE:
                self._take_output(self._last_left(), replacement)
            elif not self._left:
                return self.output
            else:
                self._left -= 1
                layer = self._last_left()
                self._take_output(layer, await self._call(runner, layer, layer.after, self.inputs, self.output))
            replacement = self._leave_while_plain(runner)

    def _leave_while_plain(self, runner: Invoker) -> Any:
        context = self._context
        if not self._left or self._layers[self._left - 1].waits_after:
            return _DONE
        try:
            return runner.call_within(context.deadline, context, self._leave_plain_layers)
        except ModuleError:
            raise
        except Exception as error:
            raise _chain_error(self._last_left(), error) from error

    def _leave_plain_layers(self) -> Any:
        module_id, inputs, context = self._module_id, self.inputs, self._context
        for layer in self._layers[: self._left][::-1]:
            if layer.waits_after:
                break
            self._left -= 1
            hook = layer.after
            replacement = None if hook is None else hook(module_id, inputs, self.output, context)
            if replacement is not None:
                if hasattr(replacement, "__await__"):
                    return replacement
                self._take_output(layer, replacement)
        return _DONE

    def _last_left(self) -> Layer:
        return self._layers[self._left]

    def _take_output(self, layer: Layer, replacement: Any) -> None:
        if replacement is not None:
            self.output = _as_dict(replacement, layer, "after")

    async def recover(self, error: ModuleError, runner: Invoker, allows: Allows | None = None) -> Any:
        """The first value that an ``on_error()`` returns, innermost first; None when all leave the error (§11.8.1).

        A `Retry` that ``allows`` agrees to is such a value: the next ``before()`` goes on behind the layer that
        asked for it. One that is not allowed counts as None.
        """
        while self._entered:
            self._entered -= 1  # whatever comes of it, it is told once
            layer = self._layers[self._entered]
            if layer.on_error is None:
                continue
            told = _Told(layer.on_error)
            try:
                answer = await self._call(runner, layer, told.hook, self.inputs, error)
            except ModuleTimeoutError:
                logger.error("on_error() of %s timed out; the chain stops", layer.id)
                self._entered = 0
                return None
            except ModuleError as failure:
                logger.error("on_error() of %s failed: %s", layer.id, failure.message)
                continue
            except asyncio.CancelledError:
                if is_cancelled_from_outside():
                    self._entered += not told.has_begun
                    raise
                logger.error("on_error() of %s failed: it awaited something that was cancelled", layer.id)
                continue
            if isinstance(answer, Retry):
                if await self._may_retry(self._entered, answer, allows):
                    self._entered += 1
                    return answer
            elif answer is not None:
                return answer
        return None

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
        if not self._layers[index].can_retry:
            logger.error("%s asks for a retry and does not say can_retry = True (§11.1)", self._layers[index].id)
            return False
        return index in self._kept and allows is not None and await allows(retry)

    async def _call(self, runner: Invoker, layer: Layer, hook: Hook | None, *arguments: Any) -> Any:
        context = self._context
        assert hook is not None
        try:
            result = runner.call_within(context.deadline, context, hook, self._module_id, *arguments, context)
            return await result if type(result) is CoroutineType else result
        except ModuleError:
            raise
        except Exception as error:
            raise _chain_error(layer, error) from error


class _Told:
    """An ``on_error()`` that may be cancelled before it begins, while it waits for its thread."""

    def __init__(self, on_error: Hook) -> None:
        self._on_error = on_error
        self.has_begun = iscoroutinefunction(on_error)
        self.hook = on_error if self.has_begun else self._begin

    def _begin(self, *arguments: Any) -> Any:
        self.has_begun = True
        return self._on_error(*arguments)


async def _from_hook(awaited: Awaitable[Any], layer: Callable[[], Layer]) -> Any:
    """What plain functions return that have to be waited for; ``layer()`` is whose failure it would be."""
    try:
        return await awaited
    except ModuleError:
        raise
    except Exception as error:
        raise _chain_error(layer(), error) from error


def _chain_error(layer: Layer, error: Exception) -> MiddlewareChainError:
    return MiddlewareChainError(f"Middleware {layer.id} failed: {type(error).__name__}", cause=error)


def _as_dict(value: Any, layer: Layer, hook: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InternalError(f"{layer.id}: {hook}() must return a dict or None, not {type(value).__name__} (§11.8.2)")
    return value
