"""Which modules the installed apps bring."""

from apcore.discovery import FoundModule
from django_apcore.discovery.apps import find_bindings, find_modules, register_modules

__all__ = ["FoundModule", "find_bindings", "find_modules", "register_modules"]
