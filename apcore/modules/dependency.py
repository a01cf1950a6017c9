"""What a module needs of others (§5.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from apcore.errors import VersionIncompatibleError
from apcore.ids import is_canonical_id
from apcore.versions import satisfies

_FIELDS: Final = frozenset({"module_id", "version", "optional"})


@dataclass(frozen=True, slots=True)
class Dependency:
    """Another module, by ID; `version` is a constraint such as `>=1.0.0,<2.0.0`, None for any version (§5.3)."""

    module_id: str
    version: str | None = None
    optional: bool = False


def read_dependencies(declared: Any) -> tuple[Dependency, ...]:
    """The dependencies of both shapes: a list, or a mapping with the lists `requires` and `optional` (§5.3, §5.15.2).

    An item is an ID, or a mapping of `module_id`, `version` and `optional`. Raises ValueError for anything else.
    """
    if declared is None:
        return ()
    if isinstance(declared, Mapping):
        unknown = sorted(str(key) for key in declared.keys() - {"requires", "optional"})
        if unknown:
            raise ValueError(f"dependencies has the lists 'requires' and 'optional', not {', '.join(unknown)}")
        required, optional = declared.get("requires") or (), declared.get("optional") or ()
        return (*_read_all(required, optional=False), *_read_all(optional, optional=True))
    return tuple(_read_all(declared, optional=None))


def _read_all(items: Any, *, optional: bool | None) -> Iterable[Dependency]:
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise ValueError(f"dependencies must be a list, not {items!r}")
    return [_read(item, optional=optional) for item in items]


def _read(item: Any, *, optional: bool | None) -> Dependency:
    if isinstance(item, Dependency):
        return item
    if isinstance(item, str):
        return _checked(Dependency(item, optional=bool(optional)))
    if not isinstance(item, Mapping) or item.keys() - _FIELDS or not isinstance(item.get("module_id"), str):
        raise ValueError(f"a dependency is an ID, or module_id with version and optional, not {item!r}")
    version, is_optional = item.get("version"), item.get("optional", bool(optional))
    if not isinstance(version, str | None) or not isinstance(is_optional, bool):
        raise ValueError(f"version is a text and optional is true or false, not {item!r}")
    return _checked(Dependency(item["module_id"], version, is_optional if optional is None else optional))


def _checked(dependency: Dependency) -> Dependency:
    """An ID that no module can have, or a constraint that is none, would otherwise be found by whoever needs it."""
    if not is_canonical_id(dependency.module_id):
        raise ValueError(f"a dependency names a module, and {dependency.module_id!r} cannot be the ID of one")
    if dependency.version is not None:
        try:
            satisfies("1.0.0", dependency.version)
        except VersionIncompatibleError as error:
            raise ValueError(f"the version of the dependency {dependency.module_id!r}: {error.message}") from error
    return dependency
