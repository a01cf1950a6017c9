"""The two events of a registry (§12.2)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from apcore.errors import InvalidInputError

logger = logging.getLogger("apcore.registry")

REGISTRY_EVENTS: Final[Mapping[str, str]] = MappingProxyType({"REGISTER": "register", "UNREGISTER": "unregister"})
"""`register` fires after a module was registered, `unregister` before it is removed."""

RegistryCallback = Callable[[str, Any], object]
"""Called with the module ID and the module."""


class RegistryEvents:
    """Who wants to know about a registry's changes; callbacks run in the order in which they came."""

    def __init__(self) -> None:
        self._callbacks: dict[str, list[RegistryCallback]] = {event: [] for event in REGISTRY_EVENTS.values()}

    def on(self, event: str, callback: RegistryCallback) -> None:
        """Add a callback. Raises InvalidInputError for an event that no registry has."""
        if event not in self._callbacks:
            raise InvalidInputError(
                f"Unknown registry event {event!r}; known are {', '.join(self._callbacks)}", details={"event": event}
            )
        self._callbacks[event].append(callback)

    def emit(self, event: str, module_id: str, module: Any) -> None:
        """Tell everyone; a callback that raises is logged and keeps nobody else from hearing it."""
        for callback in tuple(self._callbacks[event]):
            try:
                callback(module_id, module)
            except Exception:
                logger.exception("A callback for the registry event '%s' of module '%s' failed", event, module_id)
