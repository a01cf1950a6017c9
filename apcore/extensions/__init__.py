"""Implementations of others in the place of the framework's own (§11.3, §11.6, §11.7)."""

from apcore.extensions.applying import apply_extensions
from apcore.extensions.loading import load_extensions
from apcore.extensions.manager import Extension, ExtensionManager
from apcore.registry.points import EXTENSION_POINTS, STRATEGIES, ExtensionPoint

__all__ = [
    "EXTENSION_POINTS",
    "STRATEGIES",
    "Extension",
    "ExtensionManager",
    "ExtensionPoint",
    "apply_extensions",
    "load_extensions",
]
