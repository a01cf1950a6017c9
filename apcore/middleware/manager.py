"""The middleware of an executor, in onion order (§11.2, §12.2)."""

from __future__ import annotations

import bisect
import re
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from types import CoroutineType
from typing import Any, Final

from apcore.context import Context
from apcore.errors import InvalidInputError, propagate_error
from apcore.ids import snake_case
from apcore.middleware.base import DEFAULT_PRIORITY
from apcore.middleware.layers import Layer, Onion
from apcore.middleware.passage import Passage

RESERVED_IDS: Final[Mapping[str, str]] = {
    "schema_validation": "input_validation and output_validation",
    "acl_check": "acl_check",
}
"""What §11.4 lists as middleware that must be enabled, and the pipeline steps that do it here (C-13)."""

_HOOKS: Final = ("before", "after", "on_error", "around_call")
_ID: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True)
class MiddlewareEntry:
    """One registered middleware."""

    id: str
    priority: int
    middleware: Any


class MiddlewareManager:
    """Layers ordered by priority; a change swaps the tuple, so that running calls keep theirs (§12.7.6)."""

    __slots__ = ("_changing", "layers", "onion")

    def __init__(self) -> None:
        self.layers: tuple[Layer, ...] = ()
        self.onion = Onion()
        self._changing = threading.Lock()

    @property
    def entries(self) -> tuple[MiddlewareEntry, ...]:
        """What is registered, outermost first."""
        return tuple(MiddlewareEntry(each.id, each.priority, each.middleware) for each in self.layers)

    def __contains__(self, id: object) -> bool:  # noqa: A002 - the protocol's word
        return any(layer.id == id for layer in self.layers)

    def add(self, middleware: Any, *, id: str | None = None, priority: int | None = None) -> str:  # noqa: A002 - the protocol's word
        """Register ``middleware`` and return its ID: the given one, its own, or one made from its class's name.

        Raises InvalidInputError for an ID that is taken or reserved (§11.4), a priority outside 0..1000 (§11.2), and
        an object without hooks.
        """
        _require_hooks(middleware)
        level = checked_priority(getattr(middleware, "priority", DEFAULT_PRIORITY) if priority is None else priority)
        named = id if id is not None else getattr(middleware, "id", None)
        with self._changing:
            name = self._free_name(type(middleware).__name__) if named is None else checked_id(named)
            if name in self:
                raise InvalidInputError(
                    f"There is a middleware {name!r} already; remove it first, or give this one another id= (§11.2)"
                )
            layers = list(self.layers)
            bisect.insort_right(layers, Layer.of(middleware, name, level), key=lambda each: -each.priority)
            self._put(layers)
        return name

    def remove(self, id: str) -> Any:  # noqa: A002 - the protocol's word
        """Take a middleware out and return it; calls that run still pass through it.

        Raises InvalidInputError for an unknown ID, and for one that stands for a pipeline step.
        """
        with self._changing:
            if id not in self:
                refuse_reserved(id)
                known = ", ".join(layer.id for layer in self.layers) or "none"
                raise InvalidInputError(f"There is no middleware {id!r}; registered are: {known}")
            [gone] = (layer for layer in self.layers if layer.id == id)
            self._put(layer for layer in self.layers if layer is not gone)
        return gone.middleware

    async def run_chain(
        self,
        module_id: str,
        inputs: Mapping[str, Any],
        context: Context,
        next: Callable[[Mapping[str, Any]], Awaitable[Any]],  # noqa: A002 - the protocol's word (§12.2)
    ) -> Any:
        """``await next(inputs)`` inside the onion, for whoever has a pipeline of their own; nothing is retried.

        Raises what a hook or ``next`` raises, as ModuleError (§8.3), when no ``on_error()`` recovers.
        """
        passage, runner = Passage(self.onion, module_id, context), _Alone()
        try:
            given = passage.before(inputs, runner)
            output = passage.after(await next(await given if type(given) is CoroutineType else given), runner)
            return await output if type(output) is CoroutineType else output
        except Exception as error:  # noqa: BLE001 - every failure goes on as ModuleError (§8.3)
            failure = propagate_error(error, module_id, context)
            fallback = await passage.recover(failure, runner)
            if fallback is None:
                raise failure from failure.cause
            return fallback

    def _put(self, layers: Iterable[Layer]) -> None:
        self.layers = tuple(layers)
        self.onion = Onion(self.layers)

    def _free_name(self, class_name: str) -> str:
        base = snake_case(class_name).strip("_") or "middleware"
        base = base if _ID.fullmatch(base) else "middleware"
        names = (base if number == 1 else f"{base}-{number}" for number in range(1, len(self.layers) + 2))
        return next(name for name in names if name not in self)


def checked_priority(value: object) -> int:
    """The priority, if it is one. Raises InvalidInputError for anything but a whole number from 0 to 1000 (§11.2)."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 1000:
        raise InvalidInputError(f"Middleware priority must be a whole number from 0 to 1000, not {value!r} (§11.2)")
    return value


def checked_id(value: object) -> str:
    """The ID, if it is one. Raises InvalidInputError for one that is reserved or malformed (§11.2, §11.4)."""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise InvalidInputError(
            f"A middleware ID is a letter, then letters, digits, '_', '.' or '-', at most 100; not {value!r} (§11.2)"
        )
    refuse_reserved(value)
    return value


def refuse_reserved(id: str) -> None:  # noqa: A002 - the protocol's word
    """Raises InvalidInputError for the two IDs that stand for pipeline steps (§11.4, C-13)."""
    if id in RESERVED_IDS:
        raise InvalidInputError(
            f"{id!r} can be neither disabled nor replaced (§11.4): it is no middleware here but the pipeline step "
            f"{RESERVED_IDS[id]}, which every call passes"
        )


def _require_hooks(middleware: Any) -> None:
    hooks = [name for name in _HOOKS if callable(getattr(middleware, name, None))]
    if not hooks or isinstance(middleware, type):
        what = "is a class, not an instance" if hooks else "has none of before(), after(), on_error()"
        name = middleware.__name__ if isinstance(middleware, type) else type(middleware).__name__
        raise InvalidInputError(f"{name} {what} (§11.1)")


class _Alone:
    """For hooks outside of a pipeline, which have no deadline."""

    async def call_within(
        self, deadline: float | None, context: Context, function: Callable[..., Any], /, *args: Any
    ) -> Any:
        result = function(*args)
        return await result if hasattr(result, "__await__") else result
