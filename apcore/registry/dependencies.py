"""In which order modules are loaded, and what happens when one is missing (§5.3, §5.15.2)."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from apcore.errors import (
    CircularDependencyError,
    ConfigError,
    DependencyNotFoundError,
    DependencyVersionMismatchError,
    InvalidInputError,
)
from apcore.modules import Dependency, read_dependencies
from apcore.registry.selection import Strategy, choose, families_of
from apcore.versions import satisfies

logger = logging.getLogger("apcore.registry")

ConflictResolution = Literal["error", "use_highest", "use_lowest"]
"""What is done when no version fits: it is an error, or the highest or lowest one is taken, with a warning."""

_DEFAULT_VERSION: Final = "1.0.0"


@dataclass(frozen=True, slots=True)
class Node:
    """A module as far as its place in the order goes."""

    module_id: str
    version: str
    dependencies: tuple[Dependency, ...]


class _Present:
    """The modules that can meet a dependency, ID to version, and which of them are versions of one module."""

    def __init__(self, versions: Mapping[str, str]) -> None:
        self.versions = versions
        self._families = families_of(versions)

    def candidates_for(self, wanted: Dependency) -> list[str]:
        """The module itself, and where a version is asked for, also other versions of it."""
        if wanted.version is not None:
            return self._families.get(wanted.module_id, [])
        return [wanted.module_id] if wanted.module_id in self.versions else []


def resolve_dependencies(
    modules: Iterable[Any],
    *,
    available: Mapping[str, str] | None = None,
    strategy: Strategy = "highest",
    conflict_resolution: ConflictResolution = "error",
) -> list[str]:
    """The IDs in an order in which every module comes after those it depends on (§5.3).

    A module is a mapping or an object with `module_id` (or `id`), `dependencies` and optionally `version`; `available`
    are modules that are loaded already, ID to version. A dependency on a version may be met by another version of the
    same module (`db_params_v2`), which the strategy picks. Where the order is free, it is that of the input.

    Raises DependencyNotFoundError, DependencyVersionMismatchError, CircularDependencyError (`details["cycle"]` is the
    path), InvalidInputError for two modules of one ID, and ConfigError for an unknown strategy or resolution. An
    optional dependency that is missing is logged as INFO, one whose version does not fit as WARNING.
    """
    if conflict_resolution not in get_args(ConflictResolution):
        raise ConfigError(f"A conflict resolution is one of {', '.join(get_args(ConflictResolution))}")
    nodes = _by_id(modules)
    present = _Present({**(available or {}), **{name: node.version for name, node in nodes.items()}})
    graph = {
        name: _targets(node, present, strategy, conflict_resolution) & nodes.keys() for name, node in nodes.items()
    }
    order = _sorted(graph)
    if len(order) < len(graph):
        raise _circle_among(graph, graph.keys() - set(order))
    return order


def _by_id(modules: Iterable[Any]) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    for module in modules:
        node = _node(module)
        if node.module_id in nodes:
            raise InvalidInputError(
                f"Module '{node.module_id}' is there twice",
                module_id=node.module_id,
                details={"type": "duplicate_id", "module_id": node.module_id},
            )
        nodes[node.module_id] = node
    return nodes


def _node(module: Any) -> Node:
    module_id = _said(module, "module_id") or _said(module, "id")
    if not isinstance(module_id, str):
        raise InvalidInputError(f"A module has an ID, and {module!r} has none")
    try:
        dependencies = read_dependencies(_said(module, "dependencies"))
    except ValueError as error:
        raise InvalidInputError(f"Module '{module_id}': {error}", module_id=module_id, cause=error) from error
    return Node(module_id, _said(module, "version") or _DEFAULT_VERSION, dependencies)


def _said(module: Any, name: str) -> Any:
    return module.get(name) if isinstance(module, Mapping) else getattr(module, name, None)


def _targets(node: Node, present: _Present, strategy: Strategy, conflict_resolution: ConflictResolution) -> set[str]:
    found = (_target(node, each, present, strategy, conflict_resolution) for each in node.dependencies)
    return {each for each in found if each is not None}


def _target(
    node: Node,
    wanted: Dependency,
    present: _Present,
    strategy: Strategy,
    conflict_resolution: ConflictResolution,
) -> str | None:
    """The module that meets a dependency; None for an optional one that nothing meets."""
    candidates, versions = present.candidates_for(wanted), present.versions
    if not candidates:
        _note_missing(node, wanted)
        return None
    fitting = [each for each in candidates if wanted.version is None or satisfies(versions[each], wanted.version)]
    found = choose(wanted.module_id, fitting, versions, strategy)
    if found is not None:
        return found
    if conflict_resolution == "error" or wanted.optional:
        _note_unfit(node, wanted, versions[candidates[0]])
        return None
    extreme: Strategy = "highest" if conflict_resolution == "use_highest" else "lowest"
    found = choose(wanted.module_id, candidates, versions, extreme)
    logger.warning("Module '%s' needs '%s' %s and gets '%s'", node.module_id, wanted.module_id, wanted.version, found)
    return found


def _note_missing(node: Node, wanted: Dependency) -> None:
    if wanted.optional:
        logger.info("Module '%s' goes without its optional dependency '%s'", node.module_id, wanted.module_id)
        return
    raise DependencyNotFoundError(
        f"Module '{node.module_id}' depends on '{wanted.module_id}', which does not exist",
        module_id=node.module_id,
        details={"module_id": node.module_id, "dependency_id": wanted.module_id},
    )


def _note_unfit(node: Node, wanted: Dependency, actual: str) -> None:
    text = f"Module '{node.module_id}' depends on '{wanted.module_id}' {wanted.version}, and there is {actual}"
    if wanted.optional:
        logger.warning("%s; it goes without", text)
        return
    raise DependencyVersionMismatchError(
        text,
        module_id=node.module_id,
        details={
            "module_id": node.module_id,
            "dependency_id": wanted.module_id,
            "required": wanted.version,
            "actual": actual,
        },
    )


def _sorted(graph: Mapping[str, set[str]]) -> list[str]:
    """Those that depend on nothing first (Kahn's algorithm); what stands in a circle, or needs it, is left out."""
    waiting_for = {name: len(targets) for name, targets in graph.items()}
    dependents: dict[str, list[str]] = {name: [] for name in graph}
    for name, targets in graph.items():
        for target in targets:
            dependents[target].append(name)
    queue = deque(name for name, count in waiting_for.items() if count == 0)
    order = []
    while queue:
        order.append(current := queue.popleft())
        for dependent in dependents[current]:
            waiting_for[dependent] -= 1
            if waiting_for[dependent] == 0:
                queue.append(dependent)
    return order


def _circle_among(graph: Mapping[str, set[str]], remaining: set[str]) -> CircularDependencyError:
    """Every one that remains depends on another one that remains, so following them must come around."""
    path = [min(remaining)]
    while (following := min(graph[path[-1]] & remaining)) not in path:
        path.append(following)
    cycle = [*path[path.index(following) :], following]
    return CircularDependencyError(f"Circular dependency: {' -> '.join(cycle)}", details={"cycle": cycle})
