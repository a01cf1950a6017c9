"""Module IDs: grammar, origin in paths, conflicts, patterns, other languages (§2, §6.2)."""

from apcore.ids.casing import pascal_case, snake_case
from apcore.ids.classification import SYSTEM_PREFIX, Classification, classify, is_reader, is_system_module
from apcore.ids.conflicts import IdConflict, detect_id_conflicts, refuse_conflicts
from apcore.ids.grammar import (
    CANONICAL_ID_PATTERN,
    FRAMEWORK_WORDS,
    LANGUAGE_KEYWORDS,
    MAX_ID_LENGTH,
    RESERVED_WORDS,
    is_canonical_id,
    validate_canonical_id,
)
from apcore.ids.id_map import IdMap
from apcore.ids.languages import LocalNames, detect_language, from_canonical, local_names, normalize_to_canonical_id
from apcore.ids.paths import directory_to_canonical_id
from apcore.ids.patterns import calculate_specificity, match_pattern
from apcore.ids.versions import ModuleReference, VersionedName, parse_reference, parse_versioned_name

__all__ = [
    "CANONICAL_ID_PATTERN",
    "FRAMEWORK_WORDS",
    "LANGUAGE_KEYWORDS",
    "MAX_ID_LENGTH",
    "RESERVED_WORDS",
    "SYSTEM_PREFIX",
    "Classification",
    "IdConflict",
    "IdMap",
    "LocalNames",
    "ModuleReference",
    "VersionedName",
    "calculate_specificity",
    "classify",
    "detect_id_conflicts",
    "detect_language",
    "directory_to_canonical_id",
    "from_canonical",
    "is_canonical_id",
    "is_reader",
    "is_system_module",
    "local_names",
    "match_pattern",
    "normalize_to_canonical_id",
    "parse_reference",
    "parse_versioned_name",
    "pascal_case",
    "refuse_conflicts",
    "snake_case",
    "validate_canonical_id",
]
