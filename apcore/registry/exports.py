"""Modules as the tools of other protocols (§4.17, Appendix D)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from apcore.errors import InvalidInputError
from apcore.modules import ModuleDescription
from apcore.schema import express_nullable, prefer_llm_descriptions, strip_extensions, to_strict_schema

DEFAULT_PROFILE: Final = "generic"
_JSON: Final = "application/json"


def tool_name(module_id: str) -> str:
    """The name of a module where names have no dots: ``a.b_c`` and ``a_b.c`` share one (§4.17)."""
    return module_id.replace(".", "_")


def to_mcp_tool(description: ModuleDescription, *, strict: bool = False) -> dict[str, Any]:
    """A tool of the Model Context Protocol: schemas with all their words, annotations as hints (D.1)."""
    annotations = description.annotations
    return {
        "name": description.module_id,
        "description": description.description,
        "inputSchema": _abroad(description.input_schema, strict),
        "outputSchema": _abroad(description.output_schema, strict),
        "annotations": {
            "readOnlyHint": annotations.readonly,
            "destructiveHint": annotations.destructive,
            "idempotentHint": annotations.idempotent,
            "openWorldHint": annotations.open_world,
        },
    }


def to_openai_function(description: ModuleDescription, *, agents_sdk: bool = False) -> dict[str, Any]:
    """A function of OpenAI's function calling, always strict; ``agents_sdk`` adds ``needs_approval`` (D.3)."""
    function = {
        "name": tool_name(description.module_id),
        "description": description.description,
        "parameters": to_strict_schema(prefer_llm_descriptions(description.input_schema)),
        "strict": True,
    }
    return {**function, "needs_approval": description.annotations.requires_approval} if agents_sdk else function


def to_anthropic_tool(description: ModuleDescription, *, strict: bool = False) -> dict[str, Any]:
    """A tool of Anthropic's Claude, with the inputs of the examples (D.4)."""
    input_schema = strip_extensions(prefer_llm_descriptions(description.input_schema))
    return {
        "name": tool_name(description.module_id),
        "description": description.description,
        "input_schema": _abroad(input_schema, strict),
        "input_examples": [dict(example.inputs) for example in description.examples],
    }


def to_a2a_skill(description: ModuleDescription) -> dict[str, Any]:
    """A skill of the Agent-to-Agent protocol (D.2)."""
    return {
        "id": description.module_id,
        "name": description.name,
        "description": description.description,
        "tags": [*description.tags],
        "examples": [example.title for example in description.examples],
        "inputSchema": _abroad(description.input_schema),
        "outputSchema": _abroad(description.output_schema),
        "inputModes": [_JSON],
        "outputModes": [_JSON],
    }


def export_description(description: ModuleDescription, *, strict: bool, profile: str | None) -> dict[str, Any]:
    """A module in the form of a profile (§4.17); ``strict`` applies ``to_strict_schema`` to its schemas (§4.16).

    Raises InvalidInputError for an unknown profile.
    """
    export = _PROFILES.get(profile or DEFAULT_PROFILE)
    if export is None:
        raise InvalidInputError(
            f"Unknown export profile {profile!r}; known are {', '.join(_PROFILES)}", details={"profile": profile}
        )
    return export(description, strict)


def _generic(description: ModuleDescription, strict: bool) -> dict[str, Any]:
    exported = description.to_dict()
    for name in ("input_schema", "output_schema"):
        exported[name] = to_strict_schema(exported[name]) if strict else dict(exported[name])
    return exported


def _abroad(schema: Mapping[str, Any], strict: bool = False) -> dict[str, Any]:
    """A schema for readers who know the draft and not this protocol: they would refuse the null of ``nullable``."""
    expressed: dict[str, Any] = to_strict_schema(schema) if strict else express_nullable(schema)
    return expressed


_PROFILES: Final[Mapping[str, Callable[[ModuleDescription, bool], dict[str, Any]]]] = {
    "mcp": lambda description, strict: to_mcp_tool(description, strict=strict),
    "openai": lambda description, _: to_openai_function(description),
    "anthropic": lambda description, strict: to_anthropic_tool(description, strict=strict),
    DEFAULT_PROFILE: _generic,
}
PROFILES: Final = tuple(sorted(_PROFILES))
PROFILES_WITH_TOOL_NAMES: Final = frozenset({"openai", "anthropic"})
