"""Which modules are switched off (§6.7)."""

from __future__ import annotations

from typing import Protocol


class ToggleState(Protocol):
    """What the executor asks before every call; a module that nobody switched is on."""

    def is_enabled(self, module_id: str) -> bool:
        """Whether the module may be called now."""
        ...

    def set(self, module_id: str, enabled: bool) -> None:
        """Switch a module on or off."""
        ...


class Toggles:
    """Toggles in memory. Single set operations are atomic, so neither side needs a lock."""

    def __init__(self) -> None:
        self._disabled: set[str] = set()

    def is_enabled(self, module_id: str) -> bool:
        """Whether the module may be called now."""
        return module_id not in self._disabled

    def set(self, module_id: str, enabled: bool) -> None:
        """Switch a module on or off."""
        if enabled:
            self._disabled.discard(module_id)
        else:
            self._disabled.add(module_id)
