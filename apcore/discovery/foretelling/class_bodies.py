"""Whether a class is a module class, as far as its text alone says so (C-28)."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_METHODS: Final = frozenset({"execute", "plan", "apply"})
_SCHEMAS: Final = frozenset({"input_schema", "output_schema"})
_TELLING: Final = _METHODS | _SCHEMAS
_UNREADABLE: Final = frozenset({"__slots__", "__init_subclass__", "__module__"})
"""What gives a class, or those that follow it, attributes that do not stand in a body, or another home."""

_MODULES: Final = frozenset(f"apcore{room}.Module" for room in ("", ".modules", ".modules.base"))
_PLANNED: Final = frozenset(f"apcore{room}.PlannedModule" for room in ("", ".modules", ".modules.planned"))
_WITHOUT_ATTRIBUTES: Final = frozenset({"abc.ABC", "typing.Generic", "typing.Protocol"})
_WITH_FIELDS: Final = frozenset(
    {"enum.Enum", "enum.IntEnum", "enum.StrEnum", "typing.NamedTuple", "typing.TypedDict"}
    | {"pydantic.BaseModel", "pydantic.RootModel"}
)
"""Bases that make of an annotation in the body whatever they want."""


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """What a class has, by itself or from its bases; `is_module` if it says so by its base."""

    has: frozenset[str] = frozenset()
    is_module: bool = False
    has_fields: bool = False

    @property
    def is_runnable(self) -> bool:
        """Whether it can be executed."""
        return "execute" in self.has or self.has >= {"plan", "apply"}

    @property
    def declares_schemas(self) -> bool:
        """Whether it is a module class even beside one that can be executed alone."""
        return self.is_module or self.has >= _SCHEMAS


def facts_of(made: ast.ClassDef, bases: Iterable[ClassFacts | str | None]) -> ClassFacts | None:
    """What is certain about a class; None if its text does not say whether it is a module class.

    `bases` are what is known about classes of the same file, the dotted names of imported ones, or None.
    """
    above = [each if isinstance(each, ClassFacts) else _facts_of_imported(each) for each in bases]
    known = [each for each in above if each is not None]
    own = _bound_in(made.body)
    if len(known) < len(above) or own is None or _UNREADABLE & own:
        return None
    has_fields = any(each.has_fields for each in known)
    if (has_fields or made.decorator_list) and _TELLING & {*_annotated(made.body)}:
        return None
    if any(each in _PLANNED for each in bases if isinstance(each, str)):
        # Its own plan() and apply() are abstract, and its execute() needs both.
        return ClassFacts(_TELLING & own, is_module=True) if own >= {"plan", "apply"} and len(above) == 1 else None
    inherited = frozenset[str]().union(*(each.has for each in known))
    return ClassFacts(inherited | (_TELLING & own), any(each.is_module for each in known), has_fields)


def _facts_of_imported(origin: str | None) -> ClassFacts | None:
    if origin is None:
        return None
    if origin in _MODULES | _PLANNED:
        return ClassFacts(is_module=True)
    if origin in _WITH_FIELDS:
        return ClassFacts(has_fields=True)
    top, _, name = origin.partition(".")
    is_builtin = top == "builtins" and isinstance(getattr(builtins, name, None), type)
    return ClassFacts() if is_builtin or origin in _WITHOUT_ATTRIBUTES else None


def _bound_in(body: list[ast.stmt]) -> frozenset[str] | None:
    """The names that a class body certainly gives the class; None if one that tells something is not certain."""
    certain, uncertain = set[str](), set[str]()
    for each in body:
        match each:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                is_method = each.name in _SCHEMAS or all(map(_keeps_callable, each.decorator_list))
                (certain if is_method else uncertain).add(each.name)
            case ast.Assign() | ast.AnnAssign(value=ast.expr()):
                names = {*_names_in(each)}
                certain |= names - _METHODS
                uncertain |= names & _METHODS
            case ast.AnnAssign() | ast.Pass():
                pass
            case _:
                uncertain.update(_names_in(each))
    return None if (_TELLING | _UNREADABLE) & uncertain else frozenset(certain)


def _keeps_callable(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Name) and decorator.id in {"staticmethod", "classmethod"}


def _names_in(statement: ast.stmt) -> Iterator[str]:
    for each in ast.walk(statement):
        match each:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.alias(name=name, asname=None):
                yield name
            case ast.alias(asname=str() as name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name


def _annotated(body: list[ast.stmt]) -> Iterator[str]:
    for each in body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            yield each.target.id
