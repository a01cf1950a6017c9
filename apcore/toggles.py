"""Which modules are switched off (§6.7)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable


@runtime_checkable
class ToggleState(Protocol):
    """What the executor asks before every call; a module that nobody switched is on."""

    @property
    def is_stale(self) -> bool:
        """Whether the executor has to call `refresh()` before it asks."""
        ...

    def refresh(self) -> None:
        """Read the toggles again from where they are kept. The executor calls it where it may block."""
        ...

    def is_enabled(self, module_id: str) -> bool:
        """Whether the module may be called now."""
        ...

    def set(self, module_id: str, enabled: bool) -> None:
        """Switch a module on or off."""
        ...


class Toggles:
    """Toggles in memory; a subclass may keep them elsewhere and take them up in `refresh()`.

    Single set operations are atomic, so neither side needs a lock.
    """

    def __init__(self) -> None:
        self._disabled: set[str] = set()

    @property
    def is_stale(self) -> bool:
        """Never: the toggles are only here."""
        return False

    def refresh(self) -> None:
        """Nothing to do."""

    def is_enabled(self, module_id: str) -> bool:
        """Whether the module may be called now."""
        return module_id not in self._disabled

    def set(self, module_id: str, enabled: bool) -> None:
        """Switch a module on or off."""
        if enabled:
            self._disabled.discard(module_id)
        else:
            self._disabled.add(module_id)

    def replace(self, disabled: Iterable[str]) -> None:
        """Switch exactly these modules off, in one step."""
        self._disabled = {*disabled}
