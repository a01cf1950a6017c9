"""Semantic versions: order, constraints, negotiation (§5.3, §13)."""

from apcore.versions.semver import Version, negotiate_version, satisfies
from apcore.versions.tracks import RELEASE_VERSION, SPECIFICATION_VERSION, effective_version

__all__ = [
    "RELEASE_VERSION",
    "SPECIFICATION_VERSION",
    "Version",
    "effective_version",
    "negotiate_version",
    "satisfies",
]
