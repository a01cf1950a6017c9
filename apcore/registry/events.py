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
        self._after_removal: list[RegistryCallback] = []

    def on(self, event: str, callback: RegistryCallback) -> None:
        """Add a callback. Raises InvalidInputError for an event that no registry has."""
        if event not in self._callbacks:
            raise InvalidInputError(
                f"Unknown registry event {event!r}; known are {', '.join(self._callbacks)}", details={"event": event}
            )
        self._callbacks[event].append(callback)

    def after_removal(self, callback: RegistryCallback) -> None:
        """Add a callback for what `unregister` announced and is now done (C-62)."""
        self._after_removal.append(callback)

    def emit(self, event: str, module_id: str, module: Any) -> None:
        """Tell everyone; a callback that raises is logged and keeps nobody else from hearing it."""
        _tell(self._callbacks[event], event, module_id, module)

    def removed(self, module_id: str, module: Any) -> None:
        """Tell those who wait for the end of a removal."""
        _tell(self._after_removal, "removed", module_id, module)


def _tell(callbacks: list[RegistryCallback], event: str, module_id: str, module: Any) -> None:
    for callback in tuple(callbacks):
        try:
            callback(module_id, module)
        except Exception:
            logger.exception("A callback for the registry event '%s' of module '%s' failed", event, module_id)
