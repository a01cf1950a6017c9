"""What a module says about itself to people and language models (§5.6, §12.2)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from typing import Any

from apcore.modules.annotations import ModuleAnnotations
from apcore.modules.callables import callable_attribute
from apcore.modules.definition import ModuleDefinition
from apcore.modules.examples import ModuleExample
from apcore.redaction import redact
from apcore.schema import schema_document

logger = logging.getLogger("apcore.modules")


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
    examples: list[ModuleExample]
    tags: list[str]
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
        wire["tags"] = redact(self.tags, keys=())
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

    A `describe()` that fails, or returns something else, is logged and not heard: whoever lists all modules should not
    be stopped by one. Schemas and lists are copies: who changes them on their way to a tool does not change what calls
    are checked against.
    """
    parts = {field.name: getattr(definition, field.name) for field in fields(ModuleDescription)}
    copies = {name: deepcopy(parts[name]) for name in _SCHEMAS} | {
        name: [*parts[name]] for name in ("examples", "tags")
    }
    generated = ModuleDescription(**{**parts, **copies, "metadata": dict(definition.metadata)})
    own_describe = callable_attribute(definition.module, "describe")
    if own_describe is None:
        return generated
    try:
        return replace(generated, **_own_parts(own_describe()))
    except Exception:
        logger.exception("describe() of module '%s' does not describe it", definition.module_id)
        return generated


def _own_parts(said: Any) -> dict[str, Any]:
    if not isinstance(said, Mapping):
        raise TypeError(f"describe() returns a mapping, not {type(said).__name__}")
    own = {name: value for name, value in said.items() if name in _OWN_FIELDS}
    for name in _SCHEMAS & own.keys():
        own[name] = schema_document(own[name], output=name == "output_schema")
    if isinstance(own.get("annotations"), Mapping):
        own["annotations"] = ModuleAnnotations.from_dict(own["annotations"])
    if "examples" in own:
        own["examples"] = [_example(each) for each in own["examples"]]
    return own


_LAYERS: Mapping[str, tuple[str, ...]] = {
    "core": ("input_schema", "output_schema", "description"),
    "annotation": ("annotations", "examples", "name", "tags", "version"),
    "extension": ("metadata",),
}

_SCHEMAS = frozenset({"input_schema", "output_schema"})

# The identity of a module and its version are facts; a module cannot describe itself as another one.
_OWN_FIELDS = _SCHEMAS | {"description", "documentation", "annotations", "examples"}


def _example(each: ModuleExample | Mapping[str, Any]) -> ModuleExample:
    return each if isinstance(each, ModuleExample) else ModuleExample.from_dict(each)
