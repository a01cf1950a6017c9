"""The way of one call through its middleware (§11.5, §11.8)."""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from asgiref.sync import iscoroutinefunction

from apcore.context import Context, is_cancelled_from_outside
from apcore.errors import InternalError, MiddlewareChainError, ModuleError, ModuleTimeoutError
from apcore.middleware.base import Middleware, Retry

logger = logging.getLogger("apcore.middleware")

Hook = Callable[..., Any]


class Invoker(Protocol):
    """Runs a hook, sync or async, within the deadline of a call: the runner of the pipeline."""

    async def call_within(
        self, deadline: float | None, context: Context, function: Callable[..., Any], /, *args: Any
    ) -> Any:
        """The result of ``function(*args)``. Raises ModuleTimeoutError past the deadline."""
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

    async def before(self, inputs: Mapping[str, Any], runner: Invoker) -> Mapping[str, Any]:
        """The inputs after every ``before()``, outermost first (§11.8.2). Goes on where a retry has to begin."""
        self.inputs = copy.deepcopy(self._kept[self._entered - 1]) if self._entered else inputs
        layers, context = self._layers, self._context
        while self._entered < len(layers):
            layer = layers[self._entered]
            if layer.waits_before:
                self._entered += 1
                self._settle(layer, await self._call(runner, layer, layer.before, self.inputs))
                continue
            try:
                replacement = await runner.call_within(context.deadline, context, self._enter_plain_layers)
            except ModuleError:
                raise
            except Exception as error:
                raise _chain_error(layers[self._entered - 1], error) from error
            if replacement is not _DONE:
                self._settle(layers[self._entered - 1], replacement)
        return self.inputs

    def _enter_plain_layers(self) -> Any:
        """Enter all layers up to the next coroutine; an awaitable that a plain function returned is handed back."""
        layers = self._layers
        while self._entered < len(layers):
            layer = layers[self._entered]
            if layer.waits_before:
                break
            self._entered += 1
            hook = layer.before
            replacement = None if hook is None else hook(self._module_id, self.inputs, self._context)
            if replacement is not None or layer.can_retry:
                if hasattr(replacement, "__await__"):
                    return replacement
                self._settle(layer, replacement)
        return _DONE

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

    async def after(self, output: Any, runner: Invoker) -> Any:
        """The output after every ``after()``, innermost first; the same object when nobody replaced it (§11.8.3)."""
        self.output, self._left, context = output, self._entered, self._context
        while self._left:
            layer = self._layers[self._left - 1]
            if layer.waits_after:
                self._left -= 1
                self._take_output(layer, await self._call(runner, layer, layer.after, self.inputs, self.output))
                continue
            try:
                replacement = await runner.call_within(context.deadline, context, self._leave_plain_layers)
            except ModuleError:
                raise
            except Exception as error:
                raise _chain_error(self._layers[self._left], error) from error
            if replacement is not _DONE:
                self._take_output(self._layers[self._left], replacement)
        return self.output

    def _leave_plain_layers(self) -> Any:
        while self._left:
            layer = self._layers[self._left - 1]
            if layer.waits_after:
                break
            self._left -= 1
            hook = layer.after
            if hook is None:
                continue
            replacement = hook(self._module_id, self.inputs, self.output, self._context)
            if replacement is not None:
                if hasattr(replacement, "__await__"):
                    return replacement
                self._take_output(layer, replacement)
        return _DONE

    def _take_output(self, layer: Layer, replacement: Any) -> None:
        if replacement is not None:
            self.output = _as_dict(replacement, layer, "after")

    async def recover(self, error: ModuleError, runner: Invoker, allows: Allows | None = None) -> Any:
        """The first value that an ``on_error()`` returns, innermost first; None when all leave the error (§11.8.1).

        A `Retry` that ``allows`` agrees to is such a value: the next ``before()`` goes on behind the layer that
        asked for it. One that is not allowed counts as None.
        """
        for index in range(self._entered - 1, -1, -1):
            layer = self._layers[index]
            if layer.on_error is None:
                continue
            try:
                answer = await self._call(runner, layer, layer.on_error, self.inputs, error)
            except ModuleTimeoutError:
                logger.error("on_error() of %s timed out; the chain stops", layer.id)
                return None
            except ModuleError as failure:
                logger.error("on_error() of %s failed: %s", layer.id, failure.message)
                continue
            except asyncio.CancelledError:
                if is_cancelled_from_outside():
                    raise
                logger.error("on_error() of %s failed: it awaited something that was cancelled", layer.id)
                continue
            if isinstance(answer, Retry):
                if await self._may_retry(index, answer, allows):
                    self._entered = index + 1
                    return answer
            elif answer is not None:
                return answer
        return None

    async def _may_retry(self, index: int, retry: Retry, allows: Allows | None) -> bool:
        if not self._layers[index].can_retry:
            logger.error("%s asks for a retry and does not say can_retry = True (§11.1)", self._layers[index].id)
            return False
        return index in self._kept and allows is not None and await allows(retry)

    async def _call(self, runner: Invoker, layer: Layer, hook: Hook | None, *arguments: Any) -> Any:
        context = self._context
        assert hook is not None
        try:
            return await runner.call_within(context.deadline, context, hook, self._module_id, *arguments, context)
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
