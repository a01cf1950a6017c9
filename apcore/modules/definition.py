"""A module as the framework knows it: checked once, then only read (§5.6)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from apcore.modules.activity import Activity
from apcore.modules.annotations import ModuleAnnotations
from apcore.modules.dependency import Dependency
from apcore.modules.examples import ModuleExample
from apcore.schema import CompiledSchema, PackedSchema, compile_schema, content_hash, unpack_schema

EffectKind = Literal["transactional", "planned", "declared", "none"]
"""How the effect of a call can be known before it happens."""

Function = Callable[..., Any]


class _RemembersResults:
    """Gives a class with slots the `__dict__` in which cached properties keep what they found."""


@dataclass(frozen=True, eq=False, slots=True)
class ModuleDefinition(_RemembersResults):
    """Everything about one registered module, in plain attributes that the executor reads on every call.

    `execute`, `stream`, `validate`, `preflight`, `preview`, `plan` and `apply` are ready to call, and None where the
    module has none. `input_schema` and `output_schema` are JSON Schema documents. `input_defaults` are the defaults of
    the top-level inputs.
    `allowed_callers` are the module's own caller patterns, None when it has none (§5.2); `validate` is its own check of
    inputs, which nothing calls by itself (§5.6). Its fields are slots: there may be thousands, and a `__dict__` of so
    many names costs each four times the memory and the time.
    """

    module_id: str
    module: Any
    name: str
    description: str
    documentation: str | None
    tags: tuple[str, ...]
    version: str
    annotations: ModuleAnnotations
    examples: tuple[ModuleExample, ...]
    metadata: Mapping[str, Any]
    declared_inputs: PackedSchema
    declared_outputs: PackedSchema
    effect: EffectKind
    timeout_ms: int | None
    allowed_callers: tuple[str, ...] | None
    dependencies: tuple[Dependency, ...]
    requires_approval: bool
    source_hash: str
    execute: Function
    is_async: bool
    stream: Function | None
    validate: Function | None
    preflight: Function | None
    preview: Function | None
    plan: Function | None
    apply: Function | None
    error_codes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The module's own error codes, each with `description` and `http_status` (§8.4)."""
    activity: Activity = field(default_factory=dict)
    """The calls inside of the module now (§12.7.4); definitions of one instance share it."""
    strict_inputs: bool = True
    """Whether inputs that the schema does not declare are refused (`schema.validation.strict`, C-23)."""

    @cached_property
    def input_schema(self) -> Mapping[str, Any]:
        return unpack_schema(self.declared_inputs)

    @cached_property
    def output_schema(self) -> Mapping[str, Any]:
        return unpack_schema(self.declared_outputs)

    @cached_property
    def input_defaults(self) -> Mapping[str, Any]:
        properties = self.input_schema.get("properties", {}).items()
        return {name: each["default"] for name, each in properties if isinstance(each, Mapping) and "default" in each}

    @cached_property
    def input_validator(self) -> CompiledSchema:
        """Compiled on first use."""
        return compile_schema(self.input_schema, strict_inputs=self.strict_inputs)

    @cached_property
    def output_validator(self) -> CompiledSchema:
        """Compiled on first use."""
        return compile_schema(self.output_schema)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 (hex) of what an approval of this module relies on: ID, version, contract, behaviour and source."""
        return content_hash(
            {
                "module_id": self.module_id,
                "version": self.version,
                "input_schema": self.input_schema,
                "output_schema": self.output_schema,
                "annotations": self.annotations.to_dict(),
                "effect": self.effect,
                "source": self.source_hash,
            }
        )

    def with_defaults(self, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """The inputs with the schema's defaults for those that are absent; the same object when none are (§5.6)."""
        if not self.input_defaults:
            return inputs
        absent = [name for name in self.input_defaults if name not in inputs]
        if not absent:
            return inputs
        return {**inputs, **{name: copy.deepcopy(self.input_defaults[name]) for name in absent}}
