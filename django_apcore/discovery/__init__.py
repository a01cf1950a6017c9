"""Which modules the installed apps bring."""

from django_apcore.discovery.apps import find_modules, register_modules
from django_apcore.discovery.files import FoundModule

__all__ = ["FoundModule", "find_modules", "register_modules"]
