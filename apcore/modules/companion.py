"""What the files beside a module say about it, for people who do not touch the code (§4.13, §5.2)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apcore.modules.dependency import Dependency
from apcore.modules.isolation import ResourceLimits


@dataclass(frozen=True, slots=True)
class Deprecation:
    """That a module goes out of use: why, what takes its place, and the date after which it may be gone (§5.2)."""

    message: str | None = None
    replacement: str | None = None
    sunset_date: dt.date | None = None

    def to_dict(self) -> dict[str, Any]:
        """The keys of the metadata file, all four of them."""
        return {
            "deprecated": True,
            "deprecated_message": self.message,
            "replacement": self.replacement,
            "sunset_date": self.sunset_date.isoformat() if self.sunset_date else None,
        }


@dataclass(frozen=True, slots=True)
class Companion:
    """The content of a metadata file; None where it says nothing, and then the code decides (§5.2).

    Its values win over those in the code (§4.13), but for the description, which is looked for in the code first
    (C-67). Annotations and metadata are merged key by key.
    """

    description: str | None = None
    documentation: str | None = None
    entry_point: str | None = None
    allowed_callers: tuple[str, ...] | None = None
    dependencies: tuple[Dependency, ...] = ()
    tags: tuple[str, ...] | None = None
    version: str | None = None
    annotations: Mapping[str, Any] | None = None
    examples: tuple[Mapping[str, Any], ...] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    deprecation: Deprecation | None = None
    resources: ResourceLimits | None = None


NO_COMPANION = Companion()
