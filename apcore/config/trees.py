"""Nested mappings: merging, reading and writing by path. Nothing in here changes its arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from apcore.errors import ConfigError

MISSING: Final = object()

Path = tuple[str, ...]


_DEEPEST: Final = 100


def copied(value: Any) -> Any:
    """The value with mappings as dicts and sequences as lists, sharing nothing with the original.

    Raises ConfigError for what contains itself, or has more than 100 levels.
    """
    return _copied(value, _DEEPEST)


def _copied(value: Any, levels: int) -> Any:
    if not isinstance(value, (Mapping, list, tuple)):
        return value
    if not levels:
        raise ConfigError(f"Configuration data has at most {_DEEPEST} levels, and does not contain itself")
    if isinstance(value, Mapping):
        return {str(key): _copied(each, levels - 1) for key, each in value.items()}
    return [_copied(each, levels - 1) for each in value]


def deep_merge(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    """Both trees in one: mappings are merged, everything else of the upper one replaces what is below it.

    A null says nothing where there is a mapping below: `acl:` without content in a file leaves the defaults alone.
    """
    merged = {key: copied(value) for key, value in lower.items()}
    for key, value in upper.items():
        below = merged.get(key)
        if isinstance(below, dict) and isinstance(value, Mapping):
            merged[key] = deep_merge(below, value)
        elif not (isinstance(below, dict) and value is None):
            merged[key] = copied(value)
    return merged


def at(tree: Any, path: Sequence[str]) -> Any:
    """The value at a path, or `MISSING`."""
    for part in path:
        if not isinstance(tree, Mapping) or part not in tree:
            return MISSING
        tree = tree[part]
    return tree


def with_value(tree: Mapping[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    """The tree with a value at a path; mappings on the way are made, and whatever else is in the way is replaced."""
    changed = dict(tree)
    if len(path) == 1:
        changed[path[0]] = copied(value)
        return changed
    below = changed.get(path[0])
    changed[path[0]] = with_value(below if isinstance(below, Mapping) else {}, path[1:], value)
    return changed


def leaves(tree: Mapping[str, Any], before: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every path that ends in a value, with the value; an empty mapping is one."""
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, (*before, key))
        else:
            yield (*before, key), value
