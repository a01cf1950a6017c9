"""Taking a module away while others may be using it (§12.7.4)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final, Protocol, runtime_checkable

from apcore.errors import require
from apcore.modules import ModuleDefinition
from apcore.modules.activity import drained, threads_inside

logger = logging.getLogger("apcore.registry")

DRAIN_SECONDS: Final = 5.0
"""How long running calls may take to end before a module goes in spite of them."""

Unloaded = tuple[bool, Mapping[str, Any] | None]
"""Whether every call had ended, and the state that `on_suspend()` handed over."""


@runtime_checkable
class SafelyUnregistering(Protocol):
    """What has modules that can be taken away."""

    def safe_unregister(self, module_id: str, *, timeout: float = ...) -> Unloaded:
        """See `Registry.safe_unregister`."""
        ...


def safe_unregister(module_id: str, registry: SafelyUnregistering, *, timeout: float = DRAIN_SECONDS) -> Unloaded:
    """Take a module away as soon as its calls have ended: `(True, state)`, or `(False, None)` by force (§12.7.4).

    `timeout` is in seconds. The state is what `on_suspend()` returned. An unknown ID is fine: `(True, None)`.
    """
    require("registry", registry, SafelyUnregistering, "a Registry")
    return registry.safe_unregister(module_id, timeout=timeout)


def drain(definition: ModuleDefinition, timeout: float) -> bool:
    """Wait for the calls inside of a module that was marked; a timeout is logged, and the module goes by force."""
    if drained(definition.activity, timeout):
        return True
    logger.error(
        "Module '%s' is unloaded by force: %d calls still run after %g s",
        definition.module_id,
        len(threads_inside(definition.activity)),
        timeout,
    )
    return False
