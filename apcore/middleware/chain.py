"""The middleware of an executor, in onion order (§11.2, §11.5, §11.8)."""

from __future__ import annotations

import bisect
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from apcore.context import Context
from apcore.errors import InternalError, InvalidInputError, MiddlewareChainError, ModuleError, ModuleTimeoutError
from apcore.middleware.base import DEFAULT_PRIORITY

logger = logging.getLogger("apcore.middleware")

Hook = Callable[..., Any]
Invoke = Callable[..., Awaitable[Any]]
"""``invoke(hook, *arguments)``: runs a hook, sync or async, within the deadline of the call."""


@dataclass(frozen=True, slots=True)
class _Layer:
    priority: int
    name: str
    before: Hook | None
    after: Hook | None
    on_error: Hook | None


class MiddlewareChain:
    """Layers ordered by priority; adding one swaps the tuple, so that running calls keep theirs (§12.7.6)."""

    __slots__ = ("layers",)

    def __init__(self) -> None:
        self.layers: tuple[_Layer, ...] = ()

    def add(self, middleware: Any, *, priority: int | None = None) -> None:
        """Register ``middleware``. Raises InvalidInputError for a priority outside 0..1000 or for want of hooks."""
        level = getattr(middleware, "priority", DEFAULT_PRIORITY) if priority is None else priority
        if not isinstance(level, int) or not 0 <= level <= 1000:
            raise InvalidInputError(f"Middleware priority must be a whole number from 0 to 1000, not {level!r} (§11.2)")
        hooks = {name: getattr(middleware, name, None) for name in ("before", "after", "on_error")}
        if not any(callable(hook) for hook in hooks.values()):
            raise InvalidInputError(f"{type(middleware).__name__} has none of before(), after(), on_error()")
        layers = list(self.layers)
        layer = _Layer(level, type(middleware).__name__, **hooks)
        bisect.insort_right(layers, layer, key=lambda each: -each.priority)
        self.layers = tuple(layers)

    def passage(self, module_id: str, context: Context, invoke: Invoke) -> Passage:
        """The way of one call through the layers as they are now."""
        return Passage(self.layers, module_id, context, invoke)


class Passage:
    """One call's way in and out. Only layers whose ``before()`` was entered see the way out (§11.5)."""

    __slots__ = ("_context", "_entered", "_invoke", "_layers", "_module_id", "inputs")

    def __init__(self, layers: tuple[_Layer, ...], module_id: str, context: Context, invoke: Invoke) -> None:
        self._layers = layers
        self._module_id = module_id
        self._context = context
        self._invoke = invoke
        self._entered: list[_Layer] = []
        self.inputs: Mapping[str, Any] = {}

    async def before(self, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """The inputs after every ``before()``, outermost first (§11.8.2)."""
        self.inputs = inputs
        for layer in self._layers:
            self._entered.append(layer)
            if layer.before is not None:
                replacement = await self._call(layer, layer.before, self.inputs)
                if replacement is not None:
                    self.inputs = _as_dict(replacement, layer, "before")
        return self.inputs

    async def after(self, output: Any) -> Any:
        """The output after every ``after()``, innermost first; the same object when nobody replaced it (§11.8.3)."""
        for layer in reversed(self._entered):
            if layer.after is not None:
                replacement = await self._call(layer, layer.after, self.inputs, output)
                if replacement is not None:
                    output = _as_dict(replacement, layer, "after")
        return output

    async def recover(self, error: ModuleError) -> Any:
        """The first value that an ``on_error()`` returns, innermost first; None when all leave the error (§11.8.1)."""
        for layer in reversed(self._entered):
            if layer.on_error is None:
                continue
            try:
                fallback = await self._call(layer, layer.on_error, self.inputs, error)
            except ModuleTimeoutError:
                logger.error("on_error() of %s timed out; the chain stops", layer.name)
                return None
            except ModuleError as failure:
                logger.error("on_error() of %s failed: %s", layer.name, failure.message)
                continue
            if fallback is not None:
                return fallback
        return None

    async def _call(self, layer: _Layer, hook: Hook, *arguments: Any) -> Any:
        try:
            return await self._invoke(hook, self._module_id, *arguments, self._context)
        except ModuleError:
            raise
        except Exception as error:
            raise MiddlewareChainError(
                f"Middleware {layer.name} failed: {type(error).__name__}", cause=error
            ) from error


def _as_dict(value: Any, layer: _Layer, hook: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InternalError(f"{layer.name}.{hook}() must return a dict or None, not {type(value).__name__} (§11.8.2)")
    return value
