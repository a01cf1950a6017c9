"""Several versions of one module: ``db_params`` and ``db_params_v2``, and references such as ``db_params@2`` (§2.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_VERSION_SUFFIX: Final = re.compile(r"(?P<base>.*[^_.])_v(?P<major>[1-9][0-9]*)")
_MAJOR: Final = re.compile(r"v?(?P<major>[0-9]+)")


@dataclass(frozen=True, slots=True)
class VersionedName:
    """A module ID without its version suffix, and the major version that the suffix names; None without one."""

    base_id: str
    major: int | None


@dataclass(frozen=True, slots=True)
class ModuleReference:
    """A module ID and the version that is asked for; None where nothing is said (§5.4)."""

    module_id: str
    version: str | None

    @property
    def major(self) -> int | None:
        """The major version if the reference names no more than that (``@2``, ``@v2``)."""
        found = _MAJOR.fullmatch(self.version or "")
        return int(found["major"]) if found else None


def parse_versioned_name(module_id: str) -> VersionedName:
    """``a.db_params_v2`` is version 2 of ``a.db_params``; an ID without ``_v{major}`` is its own base (§2.4)."""
    found = _VERSION_SUFFIX.fullmatch(module_id)
    return VersionedName(found["base"], int(found["major"])) if found else VersionedName(module_id, None)


def parse_reference(reference: str) -> ModuleReference:
    """``a.db_params@2``, ``@v2``, ``@2.0.0`` or ``@latest`` as ID and version; without ``@`` the ID alone (§5.4)."""
    module_id, sign, version = reference.partition("@")
    return ModuleReference(module_id, version if sign else None)
