"""Semantic versions: order, constraints, negotiation (§5.3, §13)."""

from apcore.versions.semver import Version, negotiate_version, satisfies

__all__ = ["Version", "negotiate_version", "satisfies"]
