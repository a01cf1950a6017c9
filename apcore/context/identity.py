"""The caller's identity (§5.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apcore.errors import InvalidInputError, require, require_texts


@dataclass(frozen=True, slots=True)
class Identity:
    """Who is calling: a user, service, agent, api_key, system or ai (§5.7).

    ``roles`` and ``type`` are what ACL conditions read; ``attrs`` holds business fields (tenant, e-mail). Raises
    InvalidInputError for values of other types.
    """

    id: str
    type: str = "user"
    roles: tuple[str, ...] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("id", "type"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value:
                raise InvalidInputError(f"Identity.{name} must be a non-empty text, not {value!r} (§5.7)")
        object.__setattr__(self, "roles", require_texts("Identity.roles", self.roles))
        require("Identity.attrs", self.attrs, Mapping, "an object")
        object.__setattr__(self, "attrs", dict(self.attrs))

    def to_dict(self) -> dict[str, Any]:
        """The wire form: ``{"id", "type", "roles", "attrs"}`` (§5.7)."""
        return {"id": self.id, "type": self.type, "roles": list(self.roles), "attrs": dict(self.attrs)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Identity:
        """Read the wire form; absent optional fields take their defaults (§5.7). Raises InvalidInputError."""
        require("A written identity", data, Mapping, "an object")
        return cls(
            id=data.get("id", ""),
            type=data.get("type", "user"),
            roles=data.get("roles") or (),
            attrs=data.get("attrs") or {},
        )
