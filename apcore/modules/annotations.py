"""Module behaviour annotations and their wire format (§4.4, §4.4.1, §4.13)."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

logger = logging.getLogger(__name__)

PROMOTED_EXTRA_KEYS: Mapping[str, str] = {}
"""Former `extra` keys and the standard fields they became; both spellings are read for one minor cycle (§4.4.1)."""


@dataclass(frozen=True, slots=True)
class ModuleAnnotations:
    """How a module behaves, for AI callers and for the framework (§4.4). All fields are optional.

    `cache_ttl` is in seconds, 0 means no caching. `extra` is an open map with literal keys such as `mcp.category`.
    Raises TypeError for a value of the wrong type: `requires_approval: "false"` must never be read as true.
    """

    readonly: bool = False
    destructive: bool = False
    idempotent: bool = False
    requires_approval: bool = False
    discoverable: bool = True
    open_world: bool = True
    streaming: bool = False
    cacheable: bool = False
    cache_ttl: int = 0
    cache_key_fields: Sequence[str] | None = None
    paginated: bool = False
    pagination_style: str = "cursor"
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in _BOOLEAN_FIELDS:
            _require(name, getattr(self, name), bool)
        _require("cache_ttl", self.cache_ttl, int)
        _require("pagination_style", self.pagination_style, str)
        if self.cache_key_fields is not None:
            _require("cache_key_fields", self.cache_key_fields, (list, tuple))
            for name in self.cache_key_fields:
                _require("cache_key_fields", name, str)
            object.__setattr__(self, "cache_key_fields", tuple(self.cache_key_fields))
        object.__setattr__(self, "extra", _without_canonical_names(self.extra))

    def to_dict(self) -> dict[str, Any]:
        """The canonical wire form: every field, extension data nested under `extra` (§4.4.1)."""
        wire = {name: getattr(self, name) for name in FIELD_NAMES}
        if self.cache_key_fields is not None:
            wire["cache_key_fields"] = list(self.cache_key_fields)
        wire["extra"] = dict(self.extra)
        return wire

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ModuleAnnotations:
        """Read the wire form; unknown keys at the root move into `extra`, where nested ones win (§4.4.1).

        Raises TypeError as the class does, and for what is no mapping.
        """
        return cls(**_normalised(data))


FIELD_NAMES = tuple(item.name for item in fields(ModuleAnnotations))
_BOOLEAN_FIELDS = tuple(item.name for item in fields(ModuleAnnotations) if isinstance(item.default, bool))


def merge_annotations(
    from_yaml: Mapping[str, Any] | None, from_code: ModuleAnnotations | Mapping[str, Any] | None
) -> ModuleAnnotations:
    """Merge field by field: metadata file over code over defaults (§4.13); `extra` merges key by key."""
    if not from_yaml and isinstance(from_code, ModuleAnnotations):
        return from_code
    code = from_code.to_dict() if isinstance(from_code, ModuleAnnotations) else _normalised(from_code or {})
    yaml = _normalised(from_yaml or {})
    return ModuleAnnotations(**{**code, **yaml, "extra": {**code["extra"], **yaml["extra"]}})


def _normalised(data: Mapping[str, Any]) -> dict[str, Any]:
    """The given fields alone, with all extension data nested; no defaults filled in."""
    if not isinstance(data, Mapping):
        raise TypeError(f"annotations must be a mapping, not {type(data).__name__}")
    nested = data.get("extra")
    if nested is None:
        nested = {}
    _require("extra", nested, Mapping)
    known = {name: value for name, value in data.items() if name in FIELD_NAMES}
    overflow = {name: value for name, value in data.items() if name not in FIELD_NAMES}
    for old_key, name in PROMOTED_EXTRA_KEYS.items():
        if old_key in nested:
            known.setdefault(name, nested[old_key])
    return {**known, "extra": {**overflow, **nested}}


def _without_canonical_names(extra: Mapping[str, Any]) -> dict[str, Any]:
    _require("extra", extra, Mapping)
    kept = {}
    for key, value in extra.items():
        _require("extra", key, str)
        if key in FIELD_NAMES:
            logger.warning("annotation extra key %r dropped: it is the name of a standard field", key)
            continue
        if key.startswith("core."):
            logger.warning("annotation extra key %r uses the reserved namespace 'core.'", key)
        kept[key] = value
    return kept


def _require(name: str, value: object, expected: type | tuple[type, ...]) -> None:
    wrong = not isinstance(value, expected) or (expected is int and isinstance(value, bool))
    if wrong:
        kinds = " or ".join(each.__name__ for each in (expected if isinstance(expected, tuple) else (expected,)))
        raise TypeError(f"annotation {name!r} is {kinds}, and has the wrong type {type(value).__name__}")
