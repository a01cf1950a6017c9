"""Usage examples of a module (§4.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class ModuleExample:
    """One call as it could be made: `inputs` fit the module's input schema, `output` its output schema (§4.5)."""

    title: str
    inputs: Mapping[str, Any]
    description: str | None = None
    output: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The wire form, without the fields that were not given."""
        wire: dict[str, Any] = {"title": self.title, "inputs": dict(self.inputs)}
        if self.description is not None:
            wire["description"] = self.description
        if self.output is not None:
            wire["output"] = dict(self.output)
        return wire

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ModuleExample:
        """Read the wire form. Raises TypeError for a missing, an unknown or an unfit field."""
        if not {"title", "inputs"} <= data.keys() <= _FIELDS:
            raise TypeError(f"an example has title and inputs, description and output if need be, not {sorted(data)}")
        for name in ("inputs", "output"):
            if not isinstance(data.get(name, {}), Mapping | None):
                raise TypeError(f"the {name} of an example must be a mapping, not {type(data[name]).__name__}")
        return cls(**data)


_FIELDS: Final = frozenset(each.name for each in fields(ModuleExample))
