"""A registry's changes as events of the framework (§9.16.2)."""

from __future__ import annotations

import weakref
from typing import Any

from apcore.events import EventEmitter, core_event
from apcore.events.core import MODULE_REGISTERED, MODULE_UNREGISTERED
from apcore.registry.events import REGISTRY_EVENTS
from apcore.registry.registry import Registry


def bridge_events(registry: Registry, emitter: EventEmitter) -> None:
    """Let an emitter tell of every module that was registered or removed; the latter after its removal (C-62).

    The registry does not keep the emitter alive.
    """
    reference = weakref.ref(emitter)

    def tell(name: str, module_id: str) -> None:
        target = reference()
        if target is not None and target.has_subscribers:
            target.emit(core_event(name, {"module_id": module_id}))

    def registered(module_id: str, module: Any) -> None:
        tell(MODULE_REGISTERED, module_id)

    def removed(module_id: str, module: Any) -> None:
        tell(MODULE_UNREGISTERED, module_id)

    registry.on(REGISTRY_EVENTS["REGISTER"], registered)
    registry.after_removal(removed)
