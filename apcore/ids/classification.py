"""What kind of module an ID means (§6.6.2). Adapters classify by this, and by nothing else."""

from __future__ import annotations

from typing import Final, Literal

Classification = Literal["observability", "introspection", "administration"]

SYSTEM_PREFIX: Final = "system."

_BY_PREFIX: Final[dict[str, Classification]] = {
    "system.health.": "observability",
    "system.usage.": "observability",
    "system.manifest.": "introspection",
    "system.control.": "administration",
}


def is_system_module(module_id: str) -> bool:
    """Whether the ID is one of the framework's own; nobody else can register such a one (§6.6.1)."""
    return module_id.startswith(SYSTEM_PREFIX)


def is_reader(module_id: str) -> bool:
    """Whether it is a system module that only looks at what the framework knows, and must not change it (§6.7)."""
    return module_id.startswith(SYSTEM_PREFIX) and classify(module_id) in ("observability", "introspection")


def classify(module_id: str) -> Classification | None:
    """The class of a system module, None for modules of users and for `system.<vendor>.*` (§6.6.2)."""
    return next((kind for prefix, kind in _BY_PREFIX.items() if module_id.startswith(prefix)), None)
