"""The optional base class of class modules (§5.6)."""

from __future__ import annotations

from typing import Any


class Module:
    """Optional base of class modules; it only names what a module has to have (§5.6).

    `execute(inputs, context) -> dict` may be sync or async, schemas are pydantic models or JSON Schemas. Optional:
    `name`, `tags`, `version`, `documentation`, `annotations`, `examples`, `metadata`, `effect`, `timeout_ms`,
    `preflight(inputs, context) -> list[str]`, `preview(inputs, context) -> PreviewResult | None`, `on_load()`,
    `on_unload()`.
    """

    description: str
    input_schema: Any
    output_schema: Any
