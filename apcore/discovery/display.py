"""How modules are presented on the command line, to MCP and to A2A (§5.13)."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, get_args

from apcore.discovery.found import FoundModule
from apcore.errors import SchemaValidationError
from apcore.modules import ModuleAnnotations

logger = logging.getLogger("apcore.discovery")

Surface = Literal["cli", "mcp", "a2a"]
SURFACES: Final[tuple[Surface, ...]] = get_args(Surface)
MAX_ALIAS: Final = 64

_MCP_ALIAS: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]*")
_SHELL_ALIAS: Final = re.compile(r"[a-z][a-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class SurfaceDisplay:
    """What one surface shows; `group` is the command group, on the command line only (§5.14.5)."""

    alias: str
    description: str
    guidance: str | None = None
    group: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Every field; `group` only where there is one."""
        shown = {"alias": self.alias, "description": self.description, "guidance": self.guidance}
        return shown if self.group is None else {**shown, "group": self.group}


@dataclass(frozen=True, slots=True)
class ResolvedDisplay:
    """The presentation of a module, complete: alias, description and tags are never None (§5.13.9)."""

    alias: str
    description: str
    documentation: str | None
    guidance: str | None
    tags: list[str]
    cli: SurfaceDisplay
    mcp: SurfaceDisplay
    a2a: SurfaceDisplay

    def to_dict(self) -> dict[str, Any]:
        """The form that is kept under `metadata["display"]`."""
        shown = {name: getattr(self, name) for name in ("alias", "description", "documentation", "guidance")}
        return {**shown, "tags": [*self.tags], **{name: getattr(self, name).to_dict() for name in SURFACES}}


@dataclass(frozen=True, slots=True)
class ResolvedModule:
    """A module as its scanner found it, and its presentation (§5.13.9)."""

    module_id: str
    target_id: str | None
    input_schema: Mapping[str, Any] | None
    output_schema: Mapping[str, Any] | None
    version: str | None
    annotations: ModuleAnnotations | Mapping[str, Any] | None
    display: ResolvedDisplay


def resolve_display(
    modules: Iterable[Any], bindings: Mapping[str, Any] | Iterable[Mapping[str, Any]] = ()
) -> list[ResolvedModule]:
    """The presentation of each module: binding for the surface, binding for all, binding item, scanner (§5.13.5).

    Modules are mappings or objects with `module_id`, `description`, `documentation`, `tags` and `metadata`; bindings
    are the items of binding files, in a list or by ID, or the content of one file. IDs are never changed.

    Raises SchemaValidationError for an `mcp.alias` that breaks the rules of tool names; other odd aliases are logged as
    warnings, and one that no shell takes gives way to the next in the chain (§5.13.6, C-49).
    """
    listed = bindings.get("bindings", bindings) if isinstance(bindings, Mapping) else bindings
    items = listed if isinstance(listed, Mapping) else {each["module_id"]: each for each in listed}
    return [_resolved(each, items.get(_said(each, "module_id")) or {}) for each in modules]


def display_of(module: Any, surface: Surface) -> SurfaceDisplay:
    """What a surface shows of a registered module, as it was resolved at registration (§5.13.8).

    A module that has no display is shown with its ID and its description.
    """
    shown = ((_said(module, "metadata") or {}).get("display") or {}).get(surface) or {}
    return SurfaceDisplay(
        shown.get("alias") or _said(module, "module_id"),
        shown.get("description") or _said(module, "description"),
        shown.get("guidance"),
        shown.get("group"),
    )


def _resolved(module: Any, item: Mapping[str, Any]) -> ResolvedModule:
    carried = [each.name for each in fields(ResolvedModule) if each.name != "display"]
    return ResolvedModule(**{name: _said(module, name) for name in carried}, display=_display(module, item))


def _display(module: Any, item: Mapping[str, Any]) -> ResolvedDisplay:
    module_id, metadata = _said(module, "module_id"), _said(module, "metadata") or {}
    display = item.get("display") or {}
    _check_aliases(module_id, display)
    alias = _first(display.get("alias"), metadata.get("suggested_alias"), module_id)
    description = _first(display.get("description"), item.get("description"), _said(module, "description"), "")
    scanned_group = ((metadata.get("display") or {}).get("cli") or {}).get("group")

    def on(surface: Surface) -> SurfaceDisplay:
        own = display.get(surface) or {}
        return SurfaceDisplay(
            _first(_usable_alias(surface, own.get("alias")), alias),
            _first(own.get("description"), description),
            _first(own.get("guidance"), display.get("guidance")),
            _first(own.get("group"), scanned_group) if surface == "cli" else None,
        )

    return ResolvedDisplay(
        alias=alias,
        description=description,
        documentation=_first(display.get("documentation"), item.get("documentation"), _said(module, "documentation")),
        guidance=display.get("guidance"),
        tags=[*_first(display.get("tags"), item.get("tags"), _said(module, "tags"), ())],
        cli=on("cli"),
        mcp=on("mcp"),
        a2a=on("a2a"),
    )


def _check_aliases(module_id: str, display: Mapping[str, Any]) -> None:
    mcp_alias = (display.get("mcp") or {}).get("alias")
    if mcp_alias is not None and (len(mcp_alias) > MAX_ALIAS or not _MCP_ALIAS.fullmatch(mcp_alias)):
        expected = f"{_MCP_ALIAS.pattern}, at most {MAX_ALIAS} characters"
        raise SchemaValidationError(
            f"'{mcp_alias}' cannot be the MCP alias of '{module_id}': {expected}",
            module_id=module_id,
            errors=[{"path": "/display/mcp/alias", "message": "not a tool name", "expected": expected}],
        )
    alias = display.get("alias")
    if alias is not None and (len(alias) > MAX_ALIAS or not _SHELL_ALIAS.fullmatch(alias)):
        logger.warning("The alias '%s' of '%s' does not suit every surface", alias, module_id)
    cli_alias = (display.get("cli") or {}).get("alias")
    if _usable_alias("cli", cli_alias) != cli_alias:
        logger.warning("'%s' cannot be the command of '%s' in a shell, another alias is used", cli_alias, module_id)


def _usable_alias(surface: Surface, alias: str | None) -> str | None:
    return alias if alias is None or surface != "cli" or _SHELL_ALIAS.fullmatch(alias) else None


def _first(*candidates: Any) -> Any:
    return next((each for each in candidates if each is not None), None)


def _said(module: Any, name: str) -> Any:
    """What a mapping or an object says; what a found module does not say itself, its code says."""
    if isinstance(module, Mapping):
        return module.get(name)
    value = getattr(module, name, None)
    return getattr(module.module, name, None) if value is None and isinstance(module, FoundModule) else value
