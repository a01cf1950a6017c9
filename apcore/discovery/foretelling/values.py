"""What an expression at the top level of a Python file can give, as far as its text alone says so.

Nothing is run. Where something may be a module, or may make one, and the text does not say so, it counts as unknown or
raises Unsure: then the file has to be imported.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Final


class Unsure(Exception):
    """The text of a file does not tell what the file makes."""


class Kind(Enum):
    """What a value is."""

    DATA = "neither a class nor a function module, nor anything that makes one"
    CLASS = "a class of this file"
    FUNCTION = "a plain function of this file, or what may hold one or give it back"
    MODULE = "a function module of this file"
    OBJECT = "an instance of a class of this file"
    IMPORTED = "what another file made"
    UNKNOWN = "anything"


@dataclass(frozen=True, slots=True)
class Value:
    """A kind; the name of the class, the dotted name of what was imported, or the ID that a module was given."""

    kind: Kind
    text: str | None = None


DATA: Final = Value(Kind.DATA)
FUNCTION: Final = Value(Kind.FUNCTION)
OBJECT: Final = Value(Kind.OBJECT)
UNKNOWN: Final = Value(Kind.UNKNOWN)

_BUILT_IN: Final = frozenset(dir(builtins))
_OWN_NAMES: Final = frozenset({"__name__", "__file__", "__doc__", "__package__", "__spec__"})
_MAKING_ANYTHING: Final = frozenset({"importlib", "types", "runpy", "pkgutil"})
_COMPOSED: Final = (
    *(ast.List, ast.Tuple, ast.Set, ast.Dict, ast.FormattedValue, ast.Slice, ast.Starred),
    *(ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.IfExp),
)


@dataclass(slots=True)
class Names:
    """The names of a file so far, and what they stand for."""

    values: dict[str, Value] = field(default_factory=dict)

    def bind(self, name: str, value: Value) -> None:
        """Give a value a name. Raises Unsure for a name that would not stand for its class or module any more."""
        before = self.values.get(name)
        if name == "__all__" or (before is not None and before.kind in (Kind.CLASS, Kind.MODULE)):
            raise Unsure
        if before is None or value.kind in (Kind.CLASS, Kind.MODULE):
            self.values[name] = value
        elif before != value:  # either of them
            self.values[name] = UNKNOWN if Kind.UNKNOWN in (before.kind, value.kind) else Value(Kind.IMPORTED)

    def value(self, node: ast.expr) -> Value:
        """What an expression gives. Raises Unsure for one that may make a module, or that cannot be followed."""
        match node:
            case ast.Constant():
                return DATA
            case ast.Lambda():
                return FUNCTION
            case ast.Name():
                return self._named(node.id)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._called(node)
            case ast.Subscript():
                self.value(node.slice)
                return DATA if self.is_trusted(self.value(node.value)) else UNKNOWN
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                with self._inside(node.generators):
                    return self._together(_parts(node))
            case _:
                return self._composed(node)

    def is_maker(self, node: ast.expr) -> bool:
        """Whether this is the function `module()` of apcore."""
        origin = self._origin(node)
        return origin is not None and origin.startswith("apcore.") and origin.endswith(".module")

    def is_trusted(self, value: Value) -> bool:
        """Whether it, and what it gives when it is called, is data: from the standard library, or a type of apcore."""
        if value.kind is not Kind.IMPORTED or value.text is None:
            return value.kind is Kind.DATA
        top, _, rest = value.text.partition(".")
        if top == "apcore":
            last = rest.rpartition(".")[2]
            return last[:1].isupper() and last != "FunctionModule"
        if top == "builtins":
            return not rest or rest.partition(".")[0] in _BUILT_IN
        if top == "sys" and rest.partition(".")[0] == "modules":
            return False
        return top in sys.stdlib_module_names and top not in _MAKING_ANYTHING

    def _named(self, name: str) -> Value:
        value = self.values.get(name)
        if name == "__all__":
            raise Unsure
        if value is not None:
            return UNKNOWN if value.kind is Kind.MODULE else value
        if name in _OWN_NAMES:
            return DATA
        return Value(Kind.IMPORTED, f"builtins.{name}") if name in _BUILT_IN else UNKNOWN

    def _attribute(self, node: ast.Attribute) -> Value:
        owner = self.value(node.value)
        if owner.kind is Kind.IMPORTED:
            return Value(Kind.IMPORTED, None if owner.text is None else f"{owner.text}.{node.attr}")
        return owner if owner.kind is Kind.DATA else UNKNOWN

    def _called(self, call: ast.Call) -> Value:
        """A module is left in a file only by a call that is given a function, or by one that we know."""
        function = self.value(call.func)
        given = [self.value(each) for each in (*call.args, *(each.value for each in call.keywords))]
        if function.kind is Kind.CLASS:
            return OBJECT
        if function.kind is Kind.FUNCTION:
            return UNKNOWN
        is_trusted = self.is_trusted(function)
        if function.text == "builtins.type" and len(given) != 1:
            raise Unsure
        if any(not (self._is_harmless(each) if is_trusted else each == DATA) for each in given):
            raise Unsure
        if not is_trusted or function.text == "builtins.getattr":
            return UNKNOWN
        return DATA if all(each == DATA for each in given) else FUNCTION

    def _composed(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Compare | ast.JoinedStr) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        ):
            self._together(_parts(node))
            return DATA
        if isinstance(node, _COMPOSED):
            return self._together(_parts(node))
        raise Unsure

    def _together(self, nodes: Iterable[ast.expr]) -> Value:
        """Data, if every part is; a list of classes, or a choice between them, is not."""
        values = [self.value(each) for each in nodes]
        if all(each == DATA for each in values):
            return DATA
        return FUNCTION if all(map(self._is_harmless, values)) else UNKNOWN

    def _is_harmless(self, value: Value) -> bool:
        return value == FUNCTION or self.is_trusted(value)

    @contextmanager
    def _inside(self, generators: Iterable[ast.comprehension]) -> Iterator[None]:
        """The names of a comprehension stand for elements of data."""
        outside = dict(self.values)
        for each in generators:
            if not self.is_trusted(self.value(each.iter)):
                raise Unsure
            for name in ast.walk(each.target):
                if isinstance(name, ast.Name):
                    self.values[name.id] = DATA
            self._together(each.ifs)
        yield
        self.values = outside

    def _origin(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Attribute):
            owner = self._origin(node.value)
            return None if owner is None else f"{owner}.{node.attr}"
        value = self.values.get(node.id) if isinstance(node, ast.Name) else None
        return value.text if value is not None and value.kind is Kind.IMPORTED else None


def _parts(node: ast.expr) -> list[ast.expr]:
    return [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]
