"""Version numbers and constraints on them (§5.3, §13.1, §13.3)."""

from __future__ import annotations

import operator
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import total_ordering
from typing import Any, Final

from apcore.errors import VersionIncompatibleError

_VERSION: Final = re.compile(
    r"(?P<major>0|[1-9][0-9]*)\.(?P<minor>0|[1-9][0-9]*)\.(?P<patch>0|[1-9][0-9]*)"
    r"(?:-(?P<prerelease>[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?"
)
_SHORT_VERSION: Final = re.compile(r"(?P<major>0|[1-9][0-9]*)(?:\.(?P<minor>0|[1-9][0-9]*))?")
_CLAUSE: Final = re.compile(r"(?P<operator>\^|~|>=|<=|>|<|==|=|!=)?\s*(?P<version>\S+)")
_EQUALITY: Final = frozenset({"", "=", "=="})
_ALL_NUMBERS: Final = 3
_OLDEST_SUPPORTED_MINORS: Final = 2


@total_ordering
@dataclass(frozen=True, slots=True)
class Version:
    """``{major}.{minor}.{patch}[-{prerelease}]``, ordered as semantic versions are (§13.1)."""

    major: int
    minor: int
    patch: int
    prerelease: str = ""

    @classmethod
    def parse(cls, text: str) -> Version:
        """Raises ``VersionIncompatibleError`` for a text that is no version."""
        found = _VERSION.fullmatch(str(text).strip())  # YAML reads 1.2 as a number
        if found is None:
            raise VersionIncompatibleError(f"'{text}' is not a version like 1.2.3", details={"version": text})
        major, minor, patch = (int(found[name]) for name in ("major", "minor", "patch"))
        return cls(major, minor, patch, found["prerelease"] or "")

    @classmethod
    def completed(cls, text: str) -> Version:
        """Also reads ``1.2`` and ``1``, as 1.2.0 and 1.0.0. Raises as ``parse``."""
        short = _SHORT_VERSION.fullmatch(str(text).strip())
        return cls(int(short["major"]), int(short["minor"] or 0), 0) if short else cls.parse(text)

    def __str__(self) -> str:
        suffix = f"-{self.prerelease}" if self.prerelease else ""
        return f"{self.major}.{self.minor}.{self.patch}{suffix}"

    def __lt__(self, other: Version) -> bool:
        return self._key() < other._key()

    def _key(self) -> tuple[Any, ...]:
        # a release comes after its own pre-releases; numbers in a pre-release come before words
        parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in self.prerelease.split("."))
        return (self.major, self.minor, self.patch, not self.prerelease, parts if self.prerelease else ())


def satisfies(version: str, constraint: str) -> bool:
    """Whether a version fits a constraint: ``1.0.0``, ``>=1.0.0,<2.0.0``, ``^1.2.0``, ``~1.2.0``, ``*`` (§5.3).

    ``^`` allows what keeps the leftmost number that is not zero, ``~`` allows later patches; every part between commas
    must hold. A short version stands for all that begin with it: ``1.2`` alone is any 1.2.x, ``>=1.2`` is ``>=1.2.0``;
    the version itself may be short as well, ``1.2`` is 1.2.0. Raises ``VersionIncompatibleError`` for a text that is no
    version or no constraint.
    """
    candidate = Version.completed(version)
    return all(_holds(candidate, clause.strip(), constraint) for clause in constraint.split(","))


def negotiate_version(declared_version: str, sdk_version: str) -> str:
    """The version to work by for a declared one (§13.3).

    Raises ``VersionIncompatibleError`` for another major version and for a later minor one; warns with
    ``DeprecationWarning`` if the declared minor version is more than two behind.
    """
    declared, sdk = Version.parse(declared_version), Version.parse(sdk_version)
    details = {"declared_version": declared_version, "sdk_version": sdk_version}
    if declared.major != sdk.major:
        raise VersionIncompatibleError(f"Version {declared} does not fit {sdk}: major versions differ", details=details)
    if declared.minor > sdk.minor:
        raise VersionIncompatibleError(
            f"Version {declared} is later than {sdk}, which this release supports",
            details=details,
            suggestion="Upgrade this package",
        )
    if declared.minor == sdk.minor:
        return str(max(declared, sdk))
    if sdk.minor - declared.minor > _OLDEST_SUPPORTED_MINORS:
        warnings.warn(f"Version {declared} is old, {sdk} is current", DeprecationWarning, stacklevel=2)
    return str(declared)


_COMPARISONS: Final[dict[str, Callable[[Version, Version], bool]]] = {
    "": operator.eq,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def _holds(candidate: Version, clause: str, constraint: str) -> bool:
    if clause == "*":
        return True
    found = _CLAUSE.fullmatch(clause)
    if found is None:
        raise VersionIncompatibleError(
            f"'{constraint}' is not a version constraint", details={"constraint": constraint}
        )
    wanted, sign = Version.completed(found["version"]), found["operator"] or ""
    given = _numbers_given(found["version"])
    if sign == "^":
        return wanted <= candidate and _leading(candidate, wanted)[:given] == _leading(wanted, wanted)[:given]
    if sign == "~" or (sign in _EQUALITY and given < _ALL_NUMBERS):
        alike = min(given, 2)
        return (
            wanted <= candidate and (candidate.major, candidate.minor)[:alike] == (wanted.major, wanted.minor)[:alike]
        )
    return _COMPARISONS[sign](candidate, wanted)


def _numbers_given(version: str) -> int:
    return version.partition("-")[0].count(".") + 1


def _leading(version: Version, measure: Version) -> tuple[int, ...]:
    """The numbers of a version up to the first one that is not zero in ``measure``."""
    if measure.major:
        return (version.major,)
    return (version.major, version.minor) if measure.minor else (version.major, version.minor, version.patch)
