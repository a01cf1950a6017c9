"""The extensions of an application, by point (§11.3)."""

from __future__ import annotations

import bisect
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apcore.errors import InvalidInputError
from apcore.extensions.chains import ChainedACL, ChainedApprovalHandler, ChainedDiscoverer
from apcore.middleware.base import DEFAULT_PRIORITY
from apcore.middleware.manager import checked_priority
from apcore.registry.points import EXTENSION_POINTS, checked_strategy, extension_point, require_interface

_CHAINS = {"discoverer": ChainedDiscoverer, "acl": ChainedACL, "approval_handler": ChainedApprovalHandler}


@dataclass(frozen=True, slots=True)
class Extension:
    """One registered implementation."""

    point: str
    priority: int
    implementation: Any


class ExtensionManager:
    """Implementations of the six extension points, highest priority first (§11.7).

    It only keeps them: `apply()`, or ``build_app(extensions=…)``, puts them into force.
    """

    def __init__(self) -> None:
        self._extensions: dict[str, tuple[Extension, ...]] = dict.fromkeys(EXTENSION_POINTS, ())
        self._strategies = {name: point.strategies[0] for name, point in EXTENSION_POINTS.items()}
        self._changing = threading.Lock()

    def register(self, point: str, implementation: Any, *, priority: int | None = None) -> None:
        """Add an implementation. ``priority`` is 0 to 1000, by default its own, else 100; equal ones keep their order.

        Raises InvalidInputError for an unknown point, a priority out of range, one that is registered already, and an
        object that lacks a method, which the message names.
        """
        found = extension_point(point)
        require_interface(found, implementation)
        own = getattr(implementation, "priority", DEFAULT_PRIORITY)
        extension = Extension(point, checked_priority(own if priority is None else priority), implementation)
        with self._changing:
            registered = list(self._extensions[point])
            if any(each.implementation is implementation for each in registered):
                raise InvalidInputError(f"{type(implementation).__name__} is registered for {point} already")
            bisect.insort_right(registered, extension, key=lambda each: -each.priority)
            self._extensions = {**self._extensions, point: tuple(registered)}

    def unregister(self, point: str, implementation: Any) -> bool:
        """Remove an implementation; whether it was there. What was applied stays. Raises InvalidInputError."""
        extension_point(point)
        with self._changing:
            kept = tuple(each for each in self._extensions[point] if each.implementation is not implementation)
            was_there = len(kept) < len(self._extensions[point])
            self._extensions = {**self._extensions, point: kept}
        return was_there

    def get(self, point: str) -> Any:
        """The implementation with the highest priority, None without one. Raises InvalidInputError."""
        extension_point(point)
        return self._extensions[point][0].implementation if self._extensions[point] else None

    def get_all(self, point: str) -> list[Any]:
        """All implementations, highest priority first. Raises InvalidInputError for an unknown point."""
        return [each.implementation for each in self.registered(point)]

    def registered(self, point: str) -> tuple[Extension, ...]:
        """All implementations with their priorities. Raises InvalidInputError for an unknown point."""
        extension_point(point)
        return self._extensions[point]

    def list_points(self) -> list[str]:
        """The names of the extension points."""
        return list(EXTENSION_POINTS)

    def strategy(self, point: str) -> str:
        """How several implementations go together. Raises InvalidInputError for an unknown point."""
        extension_point(point)
        return self._strategies[point]

    def set_strategy(self, point: str, strategy: str) -> None:
        """Raises InvalidInputError for anything but ``first_success``, ``all`` and ``fallback``, where they fit."""
        checked = checked_strategy(extension_point(point), strategy)
        with self._changing:
            self._strategies = {**self._strategies, point: checked}

    @property
    def strategies(self) -> Mapping[str, str]:
        """The strategy of each point."""
        return dict(self._strategies)

    def resolved(self, point: str) -> Any:
        """What takes effect where one object does: the only one, or a chain by the strategy; None for the default."""
        implementations = self.get_all(point)
        if len(implementations) < 2 or point not in _CHAINS:
            return implementations[0] if implementations else None
        return _CHAINS[point](implementations, self._strategies[point])
