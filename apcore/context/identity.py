"""The caller's identity (§5.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Identity:
    """Who is calling: a user, service, agent, api_key, system or ai (§5.7).

    ``roles`` and ``type`` are what ACL conditions read; ``attrs`` holds business fields (tenant, e-mail).
    """

    id: str
    type: str = "user"
    roles: tuple[str, ...] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given: object = self.id  # callers without a type checker give anything
        roles: object = self.roles
        if not isinstance(given, str) or not given:
            raise ValueError(f"Identity.id must be a non-empty string, not {self.id!r}")
        if isinstance(roles, str):
            raise ValueError(f"Identity.roles must be a list of texts, not the text {roles!r}")
        object.__setattr__(self, "roles", tuple(self.roles))
        object.__setattr__(self, "attrs", dict(self.attrs))

    def to_dict(self) -> dict[str, Any]:
        """The wire form: ``{"id", "type", "roles", "attrs"}`` (§5.7)."""
        return {"id": self.id, "type": self.type, "roles": list(self.roles), "attrs": dict(self.attrs)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Identity:
        """Read the wire form; absent optional fields take their defaults (§5.7)."""
        return cls(
            id=data["id"],
            type=data.get("type", "user"),
            roles=tuple(data.get("roles") or ()),
            attrs=data.get("attrs") or {},
        )
