"""The six extension points, what an implementation of each must be able to do, and how several go together (§11.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from apcore.errors import InvalidInputError

Strategy = Literal["first_success", "all", "fallback"]
STRATEGIES: Final = get_args(Strategy)


@dataclass(frozen=True, slots=True)
class ExtensionPoint:
    """``methods`` must all be there, of ``any_of`` one. ``strategies`` are those that make sense, the default first."""

    name: str
    purpose: str
    methods: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    strategies: tuple[str, ...] = STRATEGIES


_POINTS: Final = (
    ExtensionPoint("discoverer", "finds modules in place of the search in directories", methods=("discover",)),
    ExtensionPoint(
        "middleware",
        "stands around every call",
        any_of=("before", "after", "on_error", "around_call"),
        strategies=("all",),
    ),
    ExtensionPoint("acl", "decides who may call what", methods=("check",)),
    ExtensionPoint("span_exporter", "receives finished spans", methods=("export", "shutdown"), strategies=("all",)),
    ExtensionPoint("module_validator", "may refuse a module", methods=("validate",), strategies=("all",)),
    ExtensionPoint(
        "approval_handler",
        "is asked for approvals",
        methods=("request_approval", "check_approval"),
        strategies=("first_success", "fallback"),
    ),
)

EXTENSION_POINTS: Final[Mapping[str, ExtensionPoint]] = {point.name: point for point in _POINTS}

_FORMER_NAMES: Final[Mapping[str, str | None]] = {
    "schema_loader": "discoverer",
    "module_loader": "module_validator",
    "acl_checker": "acl",
    "id_converter": None,
    "executor": None,
}
"""What §11.3 first called them, and what it calls them in its note (C-16)."""


def extension_point(name: object) -> ExtensionPoint:
    """The point of that name. Raises InvalidInputError, which names the right one for a name of the first taxonomy."""
    point = EXTENSION_POINTS.get(name) if isinstance(name, str) else None
    if point is not None:
        return point
    hint = ""
    if isinstance(name, str) and name in _FORMER_NAMES:
        actual = _FORMER_NAMES[name]
        hint = f"; {name!r} is {actual!r} here" if actual else f"; {name!r} is described and not built (§11.3)"
    raise InvalidInputError(
        f"There is no extension point {name!r}; there are {', '.join(EXTENSION_POINTS)}{hint} (§11.3)"
    )


def require_interface(point: ExtensionPoint, implementation: Any) -> None:
    """Raises InvalidInputError that names every method which ``implementation`` lacks."""
    name = type(implementation).__name__
    if isinstance(implementation, type):
        raise InvalidInputError(f"{implementation.__name__} is a class; {point.name} needs an instance of it (§11.3)")
    missing = [f"{method}()" for method in point.methods if not callable(getattr(implementation, method, None))]
    if missing:
        raise InvalidInputError(f"{name} is no {point.name}: it lacks {', '.join(missing)} (§11.3)")
    if point.any_of and not any(callable(getattr(implementation, method, None)) for method in point.any_of):
        raise InvalidInputError(f"{name} is no {point.name}: it has none of {', '.join(point.any_of)} (§11.3)")


def checked_strategy(point: ExtensionPoint, strategy: object) -> str:
    """The strategy, if it is one of the three and fits the point. Raises InvalidInputError."""
    if strategy not in STRATEGIES:
        raise InvalidInputError(f"A strategy is one of {', '.join(STRATEGIES)}, not {strategy!r} (§11.3)")
    if strategy not in point.strategies:
        raise InvalidInputError(
            f"{point.name} cannot be combined by {strategy!r}, only by {' or '.join(point.strategies)} (§11.3)"
        )
    return str(strategy)
