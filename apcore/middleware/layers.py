"""The layers of the onion: what is known about its middleware before any call (§11.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from asgiref.sync import iscoroutinefunction

from apcore.middleware.base import Middleware

Hook = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Layer:
    """One registered middleware, with the hooks that it really has."""

    id: str
    priority: int
    middleware: Any
    before: Hook | None
    after: Hook | None
    on_error: Hook | None
    waits_on_error: bool
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
            waits_on_error=iscoroutinefunction(on_error),
            can_retry=bool(getattr(middleware, "can_retry", False)),
        )

    @property
    def has_hooks(self) -> bool:
        """Whether a call passes through it; others only have an ``around_call()``, of which the executor knows."""
        return bool(self.before or self.after or self.on_error)


Entry = tuple[int, Layer, Hook | None]
"""How many layers are entered with this one, or left to leave behind it; the layer; its hook for this way."""


class Onion:
    """The layers that a call passes through, from outside.

    ``plain_in[n]`` are those behind the first n that can be entered in one go, up to the next that is waited for;
    ``plain_out[n]`` those that can be left in one go when the first n are still to be left.
    """

    __slots__ = ("depth", "layers", "plain_in", "plain_out")

    def __init__(self, layers: Iterable[Layer] = ()) -> None:
        self.layers = tuple(layer for layer in layers if layer.has_hooks)
        self.depth = len(self.layers)
        way_in: list[Entry] = [(depth + 1, layer, layer.before) for depth, layer in enumerate(self.layers)]
        way_out: list[Entry] = [(depth, layer, layer.after) for depth, layer in enumerate(self.layers)]
        depths = range(self.depth + 1)
        self.plain_in = tuple(tuple(takewhile(_is_plain, way_in[depth:])) for depth in depths)
        self.plain_out = tuple(tuple(takewhile(_is_plain, reversed(way_out[:depth]))) for depth in depths)


def _is_plain(entry: Entry) -> bool:
    return not iscoroutinefunction(entry[2])


def _own_hook(middleware: Any, name: str) -> Hook | None:
    hook = getattr(middleware, name, None)
    if not callable(hook) or getattr(hook, "__func__", None) is getattr(Middleware, name):
        return None
    return hook  # type: ignore[no-any-return]  # whatever is callable
