"""The project's own exceptions to the automatic names (``id_map`` of the configuration, §2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from apcore.errors import InvalidInputError, require
from apcore.ids.grammar import validate_canonical_id
from apcore.ids.languages import LANGUAGES, detect_language, from_canonical, normalize_to_canonical_id

_FIELDS: Final = frozenset({"class", "package"})


@dataclass(frozen=True, slots=True)
class IdMap:
    """Conversion in both directions, with overrides that take the place of it.

    ``overrides`` maps a canonical ID and a language to the fields ``class`` and ``package``:
    ``{"executor.validator.db_params": {"java": {"class": "com.mycompany.DbParamsValidator"}}}``.
    """

    overrides: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)
    auto_detect: bool = True

    def __post_init__(self) -> None:
        require("overrides of an IdMap", self.overrides, Mapping, "an object of names by canonical ID")
        for canonical_id, languages in self.overrides.items():
            validate_canonical_id(canonical_id)
            for language, names in languages.items():
                _check_override(canonical_id, language, names)

    @classmethod
    def from_dict(cls, section: Mapping[str, Any]) -> IdMap:
        """From the section ``id_map`` of a configuration; ``languages`` there only describes what is built in.

        Raises ``InvalidModuleIdError`` and ``InvalidInputError`` for an override of something that does not exist.
        """
        require("id_map", section, Mapping, "an object")
        return cls(section.get("overrides") or {}, section.get("auto_detect", True))

    def to_canonical(self, local_id: str, language: str) -> str:
        """As ``normalize_to_canonical_id``, overridden class names first."""
        for canonical_id, languages in self.overrides.items():
            if languages.get(language, {}).get("class") == local_id:
                return canonical_id
        return normalize_to_canonical_id(local_id, language)

    def from_canonical(self, canonical_id: str, language: str) -> str:
        """As the function ``from_canonical``, or the overriding class name."""
        override = self.overrides.get(canonical_id, {}).get(language, {})
        return override.get("class") or from_canonical(canonical_id, language)

    def package_of(self, canonical_id: str, language: str) -> str | None:
        """The overriding package name, or None."""
        return self.overrides.get(canonical_id, {}).get(language, {}).get("package")

    def language_of(self, file_path: str) -> str | None:
        """The language of a file by its extension; None if it is unknown or detection is switched off."""
        return detect_language(file_path) if self.auto_detect else None


def _check_override(canonical_id: str, language: str, names: Mapping[str, str]) -> None:
    if language not in LANGUAGES or not names.keys() <= _FIELDS:
        raise InvalidInputError(
            f"The override of '{canonical_id}' for '{language}' is not understood: "
            f"languages are {', '.join(LANGUAGES)}, fields are {' and '.join(sorted(_FIELDS))}",
            details={"module_id": canonical_id, "language": language},
        )
