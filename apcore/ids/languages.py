"""Module IDs in the notation of other languages, in both directions (§2.2, §2.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final

from apcore.errors import InvalidInputError, InvalidModuleIdError
from apcore.ids.casing import as_written, camel_case, pascal_case, snake_case
from apcore.ids.grammar import validate_canonical_id

_LOCAL_SEGMENT: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_ROLE_ENDINGS: Final = ("er", "or")


@dataclass(frozen=True, slots=True)
class LanguageRules:
    """How one language writes module IDs and names their files."""

    separator: str
    extensions: tuple[str, ...]
    file_case: Callable[[str], str]


LANGUAGES: Final[Mapping[str, LanguageRules]] = MappingProxyType(
    {
        "python": LanguageRules(".", (".py",), as_written),
        "rust": LanguageRules("::", (".rs",), as_written),
        "go": LanguageRules(".", (".go",), as_written),
        "java": LanguageRules(".", (".java",), pascal_case),
        "typescript": LanguageRules(".", (".ts", ".tsx"), camel_case),
    }
)


@dataclass(frozen=True, slots=True)
class LocalNames:
    """What a module is called in one language: its file below the extensions root, and its class or struct."""

    file: str
    class_name: str


def normalize_to_canonical_id(local_id: str, language: str) -> str:
    """``executor::validator::DbParams`` in Rust gives ``executor.validator.db_params`` (§2.2).

    Raises ``InvalidModuleIdError`` if the local ID breaks the convention of its language or the result is outside the
    grammar, ``InvalidInputError`` for an unknown language.
    """
    segments = local_id.split(_rules_of(language).separator)
    for segment in segments:
        if _LOCAL_SEGMENT.fullmatch(segment) is None:
            raise InvalidModuleIdError(
                f"'{segment}' in '{local_id}' is not an identifier of {language}",
                details={"local_id": local_id, "language": language, "segment": segment},
            )
    canonical_id = ".".join(segment if segment.islower() else snake_case(segment) for segment in segments)
    validate_canonical_id(canonical_id)
    return canonical_id


def from_canonical(canonical_id: str, language: str) -> str:
    """The inverse of ``normalize_to_canonical_id``: ``a.db_params`` gives ``a.DbParams`` in Java (§2.2).

    Raises ``InvalidModuleIdError`` for a text that is no canonical ID, ``InvalidInputError`` for an unknown language.
    """
    validate_canonical_id(canonical_id)
    rules = _rules_of(language)
    *packages, name = canonical_id.split(".")
    return rules.separator.join([*packages, _in_file_case(name, rules)])


def local_names(canonical_id: str, language: str) -> LocalNames:
    """File and class of a module; a role before the name (``validator``) ends the class name (§2.2, §2.3).

    ``executor.validator.db_params`` gives the class ``DbParamsValidator``; ``api.handler.http_json_parser``, which
    names a role itself, gives ``HttpJsonParser``. Raises as ``from_canonical``.
    """
    validate_canonical_id(canonical_id)
    rules = _rules_of(language)
    *packages, name = canonical_id.split(".")
    file = "/".join([*packages, f"{_in_file_case(name, rules)}{rules.extensions[0]}"])
    role = packages[-1] if packages and packages[-1].endswith(_ROLE_ENDINGS) else ""
    return LocalNames(file, pascal_case(name if name.endswith(_ROLE_ENDINGS) else f"{name}_{role}"))


def detect_language(file_path: str) -> str | None:
    """The language of a file by its extension, or None (§2.2)."""
    extension = PurePosixPath(file_path).suffix
    return next((name for name, rules in LANGUAGES.items() if extension in rules.extensions), None)


def _in_file_case(name: str, rules: LanguageRules) -> str:
    # "a_b" would come back from "AB" as "ab": a name that does not survive the way there and back stays as it is.
    written = rules.file_case(name)
    return written if snake_case(written) == name else name


def _rules_of(language: str) -> LanguageRules:
    rules = LANGUAGES.get(language)
    if rules is None:
        raise InvalidInputError(
            f"Unknown language '{language}'; known are {', '.join(LANGUAGES)}", details={"language": language}
        )
    return rules
