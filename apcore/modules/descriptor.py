"""What a module says about itself to people and language models (§5.6, §12.2)."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from typing import Any

from apcore.modules.annotations import ModuleAnnotations
from apcore.modules.callables import callable_attribute
from apcore.modules.definition import ModuleDefinition
from apcore.modules.examples import ModuleExample
from apcore.redaction import redact


@dataclass(frozen=True, slots=True)
class ModuleDescription:
    """The complete description of a module; schemas are JSON Schema documents."""

    module_id: str
    name: str
    description: str
    documentation: str | None
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    annotations: ModuleAnnotations
    examples: tuple[ModuleExample, ...]
    tags: tuple[str, ...]
    version: str
    metadata: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The wire form: every field, as JSON-ready data.

        Texts and examples lose credentials that can be told by their form, metadata also what a name marks as secret:
        code holds what its author never thought of as told to every caller (§10.6).
        """
        wire = {field.name: getattr(self, field.name) for field in fields(self)}
        wire["annotations"] = self.annotations.to_dict()
        wire["examples"] = redact([example.to_dict() for example in self.examples], keys=())
        wire["tags"] = redact(list(self.tags), keys=())
        wire |= {name: redact(wire[name], keys=()) for name in ("description", "documentation")}
        wire["metadata"] = redact(wire["metadata"])
        return wire

    def layers(self) -> dict[str, dict[str, Any]]:
        """The wire form in the three layers of §4.7: what the module does, how it is used, and what else is known.

        The documentation is in none of them: it is read on demand (§4.8).
        """
        wire = self.to_dict()
        return {layer: {name: wire[name] for name in names} for layer, names in _LAYERS.items()}


def describe(definition: ModuleDefinition) -> ModuleDescription:
    """The description of a module; what its own `describe()` returns replaces the generated parts (§5.6).

    The schemas are copies: who changes them on their way to a tool does not change what calls are checked against.
    """
    parts = {field.name: getattr(definition, field.name) for field in fields(ModuleDescription)}
    schemas = {name: deepcopy(parts[name]) for name in ("input_schema", "output_schema")}
    generated = ModuleDescription(**{**parts, **schemas, "metadata": dict(definition.metadata)})
    own_describe = callable_attribute(definition.module, "describe")
    if own_describe is None:
        return generated
    own = {name: value for name, value in own_describe().items() if name in _OWN_FIELDS}
    if isinstance(own.get("annotations"), Mapping):
        own["annotations"] = ModuleAnnotations.from_dict(own["annotations"])
    if "examples" in own:
        own["examples"] = tuple(_example(each) for each in own["examples"])
    return replace(generated, **own)


_LAYERS: Mapping[str, tuple[str, ...]] = {
    "core": ("input_schema", "output_schema", "description"),
    "annotation": ("annotations", "examples", "name", "tags", "version"),
    "extension": ("metadata",),
}

# The identity of a module and its version are facts; a module cannot describe itself as another one.
_OWN_FIELDS = frozenset({"description", "documentation", "input_schema", "output_schema", "annotations", "examples"})


def _example(each: ModuleExample | Mapping[str, Any]) -> ModuleExample:
    return each if isinstance(each, ModuleExample) else ModuleExample.from_dict(each)
