"""Which modules there are, and the one way in (§12.2)."""

from apcore.registry.events import REGISTRY_EVENTS, RegistryCallback
from apcore.registry.queries import Predicate
from apcore.registry.registry import Registry

__all__ = ["REGISTRY_EVENTS", "Predicate", "Registry", "RegistryCallback"]
