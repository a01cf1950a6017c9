"""Which modules the installed apps bring."""

from apcore.discovery import FoundModule
from django_apcore.discovery.apps import find_commands, find_modules, register_modules
from django_apcore.discovery.bindings import bound_modules_of, displays_of, find_bindings
from django_apcore.discovery.notices import noticed

__all__ = [
    "FoundModule",
    "bound_modules_of",
    "displays_of",
    "find_bindings",
    "find_commands",
    "find_modules",
    "noticed",
    "register_modules",
]
