"""The error codes that registered modules bring along: each has one owner, and all can be listed (§8.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apcore.errors import detect_error_code_collisions
from apcore.errors.codes import FRAMEWORK_CODES
from apcore.modules.definition import ModuleDefinition


class ErrorCodeCatalogue:
    """Which module owns which code, and what it says about it."""

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}
        self._codes: dict[str, Mapping[str, Mapping[str, Any]]] = {}

    def check(self, definition: ModuleDefinition) -> None:
        """Raises ErrorCodeCollisionError for a code of the framework or of another module."""
        if not definition.error_codes:
            return
        others = {
            owner: [code]
            for code, owner in self._owners.items()
            if owner != definition.module_id and code in definition.error_codes
        }
        detect_error_code_collisions(FRAMEWORK_CODES, {**others, definition.module_id: definition.error_codes})

    def take(self, definition: ModuleDefinition) -> None:
        """The module is registered, perhaps in place of an earlier version of itself."""
        self.give_back(definition.module_id)
        if definition.error_codes:
            self._codes[definition.module_id] = definition.error_codes
            self._owners |= dict.fromkeys(definition.error_codes, definition.module_id)

    def give_back(self, module_id: str) -> None:
        """The module is gone, and its codes may be used by others."""
        for code in self._codes.pop(module_id, ()):
            self._owners.pop(code, None)

    def documentation(self) -> list[dict[str, Any]]:
        """What every declared code means, by code: ``code``, ``module_id``, ``description``, ``http_status``."""
        return [
            {
                "code": code,
                "module_id": owner,
                "description": str(self._codes[owner][code].get("description", "")),
                "http_status": self._codes[owner][code].get("http_status", 500),
            }
            for code, owner in sorted(self._owners.items())
        ]
