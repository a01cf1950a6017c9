"""Which module a reference with a version means (§2.4, §5.3, §5.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal, get_args

from apcore.errors import ConfigError, ModuleNotFoundError
from apcore.ids import ModuleReference, parse_reference, parse_versioned_name
from apcore.versions import Version, satisfies

Strategy = Literal["highest", "lowest", "locked"]
"""`locked` takes the module that bears the named ID, and never another version of it."""

LATEST: Final = "latest"


def resolve_module_id(reference: str, versions: Mapping[str, str], strategy: Strategy = "highest") -> str:
    """The ID of the module that `a.b`, `a.b@2`, `a.b@v2`, `a.b@2.0.0` or `a.b@^1.2.0` means (§5.4, C-30).

    `versions` maps the IDs that exist to their versions. Without a version, or with `@latest`, every version of the
    module is a candidate; among several that fit the strategy decides. Raises ModuleNotFoundError if none fits,
    VersionIncompatibleError for a text that is no version, ConfigError for an unknown strategy.
    """
    wanted = parse_reference(reference)
    family = families_of(versions).get(wanted.module_id, ())
    fitting = [each for each in family if _fits(each, versions[each], wanted)]
    found = choose(wanted.module_id, fitting, versions, strategy)
    if found is None:
        raise ModuleNotFoundError(
            f"No module fits '{reference}'", module_id=wanted.module_id, details={"module_id": reference}
        )
    return found


def families_of(module_ids: Iterable[str]) -> dict[str, list[str]]:
    """The versions of each module that exist: its own ID, and that ID with the suffix `_v{major}` (§2.4)."""
    families: dict[str, list[str]] = {}
    for each in module_ids:
        for name in {each, parse_versioned_name(each).base_id}:
            families.setdefault(name, []).append(each)
    return families


def choose(module_id: str, fitting: list[str], versions: Mapping[str, str], strategy: Strategy) -> str | None:
    """One of the versions that fit; None if there is none. Raises ConfigError for an unknown strategy."""
    if strategy not in get_args(Strategy):
        raise ConfigError(f"A strategy is one of {', '.join(get_args(Strategy))}, not {strategy!r}")
    if strategy == "locked":
        return module_id if module_id in fitting else None
    ordered = sorted(fitting, key=lambda each: (_major(each, versions[each]), Version.completed(versions[each])))
    return next(iter(reversed(ordered) if strategy == "highest" else ordered), None)


def _fits(module_id: str, version: str, wanted: ModuleReference) -> bool:
    if wanted.version is None or wanted.version == LATEST:
        return True
    if wanted.major is not None:
        return _major(module_id, version) == wanted.major
    return satisfies(version, wanted.version.removeprefix("v"))


def _major(module_id: str, version: str) -> int:
    """What the file name says, or else the version that the module declares."""
    suffix = parse_versioned_name(module_id).major
    return Version.completed(version).major if suffix is None else suffix
