"""The caller's identity (§5.7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from apcore.errors import InvalidInputError


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
        roles: object = self.roles  # callers without a type checker give anything
        if isinstance(roles, str) or not isinstance(roles, Iterable):
            raise InvalidInputError(f"Identity.roles must be a list of texts, not {roles!r} (§5.7)")
        object.__setattr__(self, "roles", tuple(roles))
        if not all(isinstance(role, str) for role in self.roles):
            raise InvalidInputError(f"Identity.roles must be a list of texts, not {list(self.roles)!r} (§5.7)")
        attrs: object = self.attrs
        if not isinstance(attrs, Mapping):
            raise InvalidInputError(f"Identity.attrs must be an object, not {type(attrs).__name__} (§5.7)")
        object.__setattr__(self, "attrs", dict(attrs))

    def to_dict(self) -> dict[str, Any]:
        """The wire form: ``{"id", "type", "roles", "attrs"}`` (§5.7)."""
        return {"id": self.id, "type": self.type, "roles": list(self.roles), "attrs": dict(self.attrs)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Identity:
        """Read the wire form; absent optional fields take their defaults (§5.7). Raises InvalidInputError."""
        given: object = data
        if not isinstance(given, Mapping):
            raise InvalidInputError(f"A written identity is an object, not {type(given).__name__} (§5.7)")
        return cls(
            id=given.get("id", ""),
            type=given.get("type", "user"),
            roles=given.get("roles") or (),
            attrs=given.get("attrs") or {},
        )
