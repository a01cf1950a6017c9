"""Keys that have an older place, or a second one: read from both, found at one (§9.15.2, C-36, C-56, C-66)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from apcore.config.trees import MISSING, Path, at, deep_merge, with_value

_LOGGING: Final = ("observability", "logging")
_SAMPLING: Final = ("observability", "tracing", "sampling_strategy")

# What is written at the left is what is written at the right; where both are, the right one wins.
_IN_NAMESPACE_MODE: Final[Mapping[Path, Path]] = {
    ("apcore", "obs"): ("observability",),
    ("obs",): ("observability",),
    ("apcore", "observability"): ("observability",),
    ("apcore", "sys_modules"): ("sys_modules",),
}
_IN_LEGACY_MODE: Final[Mapping[Path, Path]] = {("obs",): ("observability",)}


def canonical_path(path: Path, mode: str) -> Path:
    """The place where the data of a path is found."""
    for old, new in _moves(mode).items():
        if path[: len(old)] == old:
            return new + path[len(old) :]
    return path


def moved_path(path: Path, mode: str) -> Iterator[Path]:
    """All places where the data that is written at a path is found."""
    place = canonical_path(path, mode)
    yield place
    source = ("apcore", "logging") if mode == "namespace" else ("logging",)
    if place[: len(source)] == source:
        yield _LOGGING + place[len(source) :]
    if place == _SAMPLING:
        yield ("observability", "tracing", "strategy")


def with_moved_sections(data: Mapping[str, Any], mode: str, *, is_default: bool = False) -> Mapping[str, Any]:
    """One layer with its sections at their present places.

    The level and format of logs are set by `logging` in a legacy file, even beside `observability.logging`; among
    namespaces it is the other way round (C-36).
    """
    for old, new in _moves(mode).items():
        section = at(data, old)
        if isinstance(section, Mapping):
            present = at(data, new)
            merged = deep_merge(section, present if isinstance(present, Mapping) else {})
            data = with_value(_without(data, old), new, merged)
    data = _with_logging(data, mode, is_default=is_default)
    sampling = at(data, _SAMPLING)
    if sampling is not MISSING and at(data, ("observability", "tracing", "strategy")) is MISSING:
        data = with_value(data, ("observability", "tracing", "strategy"), sampling)
    return data


def _with_logging(data: Mapping[str, Any], mode: str, *, is_default: bool) -> Mapping[str, Any]:
    older = at(data, ("apcore", "logging") if mode == "namespace" else ("logging",))
    newer = at(data, _LOGGING)
    if not isinstance(older, Mapping) or is_default:
        return data
    present = newer if isinstance(newer, Mapping) else {}
    merged = deep_merge(older, present) if mode == "namespace" else deep_merge(present, older)
    return with_value(data, _LOGGING, merged)


def _moves(mode: str) -> Mapping[Path, Path]:
    return _IN_NAMESPACE_MODE if mode == "namespace" else _IN_LEGACY_MODE


def _without(data: Mapping[str, Any], path: Path) -> dict[str, Any]:
    left = dict(data)
    if len(path) == 1:
        del left[path[0]]
    else:
        left[path[0]] = _without(left[path[0]], path[1:])
    return left
