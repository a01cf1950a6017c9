"""The two version tracks of the protocol: its text counts from 1, its implementations count below 1 (§13.3)."""

from __future__ import annotations

from typing import Final

from apcore.versions.semver import Version, negotiate_version

SPECIFICATION_VERSION: Final = "1.8.0"
"""The version of the specification that this package implements."""

RELEASE_VERSION: Final = "0.22.0"
"""The release of the protocol's own implementations whose files this package reads."""


def effective_version(declared_version: str) -> str:
    """The version to work by for one that a configuration or a schema file declares.

    Versions below 1 are compared with the releases, all others with the specification; otherwise as
    ``negotiate_version``.
    """
    is_release = Version.parse(declared_version).major == 0
    return negotiate_version(declared_version, RELEASE_VERSION if is_release else SPECIFICATION_VERSION)
