"""Which modules there are, and the one way in (§12.2)."""

from apcore.registry.bridge import bridge_events
from apcore.registry.dependencies import resolve_dependencies
from apcore.registry.draining import DRAIN_SECONDS, safe_unregister
from apcore.registry.events import REGISTRY_EVENTS, RegistryCallback
from apcore.registry.exports import to_a2a_skill, to_anthropic_tool, to_mcp_tool, to_openai_function, tool_name
from apcore.registry.queries import Predicate
from apcore.registry.registry import Registry
from apcore.registry.selection import resolve_module_id

__all__ = [
    "DRAIN_SECONDS",
    "REGISTRY_EVENTS",
    "Predicate",
    "Registry",
    "RegistryCallback",
    "bridge_events",
    "resolve_dependencies",
    "resolve_module_id",
    "safe_unregister",
    "to_a2a_skill",
    "to_anthropic_tool",
    "to_mcp_tool",
    "to_openai_function",
    "tool_name",
]
