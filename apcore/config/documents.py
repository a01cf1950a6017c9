"""The JSON Schemas of the framework's own sections; their `default`s are the defaults (§9.1.1, §9.15)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from apcore.config.trees import MISSING, at, copied


@cache
def built_in_schema(name: str) -> Mapping[str, Any]:
    """One of `apcore-config`, `observability` and `sys-modules`; they are shipped as files, for editors too."""
    text = resources.files("apcore.config").joinpath("schemas", f"{name}.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def core_schema() -> Mapping[str, Any]:
    """The schema of the namespace `apcore`, which is the whole of a legacy file (§9.1)."""
    return built_in_schema("apcore-config")


def defaults_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The tree of the `default`s in a schema."""
    found: dict[str, Any] = {}
    for name, each in schema.get("properties", {}).items():
        value = copied(each["default"]) if "default" in each else (defaults_of(each) or MISSING)
        if value is not MISSING:
            found[name] = value
    return found


def key_tree_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The tree of all keys that a schema names: what environment variables are resolved against (C-02)."""
    return {name: key_tree_of(each) or None for name, each in schema.get("properties", {}).items()}


def part_of(schema: Mapping[str, Any] | None, path: Sequence[str]) -> Mapping[str, Any] | None:
    """The schema of the value at a path, or None where the schema does not say."""
    steps = [step for part in path for step in ("properties", part)]
    found = at(schema, steps)
    return found if isinstance(found, Mapping) else None
