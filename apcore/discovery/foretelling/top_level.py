"""What the top level of a Python file makes, as far as its text alone says so: classes and function modules."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from apcore.discovery.foretelling.class_bodies import ClassFacts, facts_of
from apcore.discovery.foretelling.values import DATA, FUNCTION, UNKNOWN, Kind, Names, Unsure, Value

_UNREADABLE: Final = frozenset(
    {"globals", "vars", "locals", "exec", "eval", "__import__", "setattr", "delattr"}
    | {"abstractmethod", "abstractproperty"}
)
"""What changes the names or the classes of a file behind its text, or brings anything into it."""


def read_top_level(tree: ast.Module) -> TopLevel:
    """Read a whole file. Raises Unsure."""
    level = TopLevel()
    level.read(tree.body, is_certain=True)
    level.refuse_hidden_makers(tree)
    return level


@dataclass(slots=True)
class TopLevel:
    """The names of a file, what is known about its classes, and the IDs of modules that have no name there."""

    names: Names = field(default_factory=Names)
    classes: dict[str, ClassFacts | None] = field(default_factory=dict)
    unnamed: list[str] = field(default_factory=list)
    exported: frozenset[str] | None = None
    _makers: set[int] = field(default_factory=set)

    def public(self) -> Iterator[tuple[str, Value]]:
        """The names that the file exports: those in ``__all__``, or those without an underscore."""
        for name, value in self.names.values.items():
            if name in self.exported if self.exported is not None else not name.startswith("_"):
                yield name, value

    def read(self, statements: Iterable[ast.stmt], *, is_certain: bool) -> None:
        """Statements in their order; those of a block that may be left out are not certain, and define nothing."""
        for each in statements:
            match each:
                case ast.Pass() | ast.Raise() | ast.Assert() | ast.AnnAssign(value=None):
                    pass
                case ast.Import() | ast.ImportFrom():
                    self._import(each)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self._define_function(each, is_certain=is_certain)
                case ast.ClassDef():
                    self._define_class(each, is_certain=is_certain)
                case ast.If() | ast.Try() | ast.With() | ast.For():
                    self._block(each)
                case _:
                    self._evaluate(each, is_certain=is_certain)

    def _evaluate(self, statement: ast.stmt, *, is_certain: bool) -> None:
        match statement:
            case ast.Expr(ast.Call() as call) if self.names.is_maker(call.func):
                self._make_unnamed(call, is_certain=is_certain)
            case ast.Expr(expression):
                self.names.value(expression)
            case ast.Assign([_, _, *_] as targets, given):
                value = self.names.value(given)
                for target in targets:
                    self._bind_all(target, value)
            case ast.Assign([target], given) | ast.AnnAssign(target=target, value=ast.expr() as given):
                self._assign(target, given, is_certain=is_certain)
            case ast.AugAssign(target, value=given):
                self._assign(target, given, is_certain=False)
            case _:
                raise Unsure

    def _block(self, block: ast.If | ast.Try | ast.With | ast.For) -> None:
        match block:
            case ast.If(orelse=[]) if self._is_for_others(block.test):
                return
            case ast.If():
                self.names.value(block.test)
            case ast.With():
                for item in block.items:
                    value = self.names.value(item.context_expr)
                    if item.optional_vars is not None:
                        self._bind_all(item.optional_vars, value)
            case ast.For():
                values = self.names.value(block.iter)
                self._bind_all(block.target, DATA if self.names.is_trusted(values) else UNKNOWN)
        for handler in getattr(block, "handlers", ()):
            if handler.name is not None:
                self.names.bind(handler.name, DATA)
            self.read(handler.body, is_certain=False)
        for name in ("body", "orelse", "finalbody"):
            self.read(getattr(block, name, ()), is_certain=False)

    def _is_for_others(self, test: ast.expr) -> bool:
        """Whether a block is run only where the file is a program, or is read by no more than type checkers."""
        if ast.unparse(test) == "__name__ == '__main__'":
            return "__name__" not in self.names.values
        return self.names.value(test).text == "typing.TYPE_CHECKING"

    def _import(self, statement: ast.Import | ast.ImportFrom) -> None:
        for alias in statement.names:
            if isinstance(statement, ast.Import):
                name = alias.asname or alias.name.partition(".")[0]
                origin = alias.name if alias.asname else name
            else:
                if alias.name == "*":
                    raise Unsure
                name = alias.asname or alias.name
                origin = f"{'.' * statement.level}{statement.module or ''}.{alias.name}"
            self.names.bind(name, Value(Kind.IMPORTED, origin))

    def _define_function(self, function: ast.FunctionDef | ast.AsyncFunctionDef, *, is_certain: bool) -> None:
        for default in (*function.args.defaults, *filter(None, function.args.kw_defaults)):
            self.names.value(default)
        match function.decorator_list:
            case [outermost, *_] if self.names.is_maker(_callee(outermost)):  # of whatever those below it gave
                if not is_certain:
                    raise Unsure
                made = Value(Kind.MODULE, self._id_given(outermost, _callee(outermost)))
            case decorators:
                for each in decorators:
                    self._decorate(each)
                made = FUNCTION
        self.names.bind(function.name, made)

    def _decorate(self, decorator: ast.expr) -> None:
        """Raises Unsure for a decorator that may give anything."""
        function = self.names.value(_callee(decorator))
        if function.kind is not Kind.IMPORTED or not self.names.is_trusted(function):
            raise Unsure
        self.names.value(decorator)

    def _define_class(self, made: ast.ClassDef, *, is_certain: bool) -> None:
        bases = [self.names.value(each.value if isinstance(each, ast.Subscript) else each) for each in made.bases]
        known = [self.classes[each.text or ""] if each.kind is Kind.CLASS else each.text for each in bases]
        for decorator in made.decorator_list:
            self._decorate(decorator)
        metaclasses = [self.names.value(each.value).text for each in made.keywords if each.arg in ("metaclass", None)]
        if not is_certain or any(each != "abc.ABCMeta" for each in metaclasses):
            raise Unsure
        self.names.bind(made.name, Value(Kind.CLASS, made.name))
        self.classes[made.name] = facts_of(made, known)

    def _make_unnamed(self, call: ast.Call, *, is_certain: bool) -> None:
        module_id = self._id_given(call, call.func)
        # Without an ID it goes by a name that only the function knows; a short one may be a name of the file.
        if module_id is None or "." not in module_id or not is_certain or len(call.args) != 1:
            raise Unsure
        self.names.value(call.args[0])
        self.unnamed.append(module_id)

    def _id_given(self, node: ast.expr, maker: ast.expr) -> str | None:
        """The literal ID in the arguments of ``module()``, None where it follows from the name. Raises Unsure."""
        self._makers.add(id(maker))
        if not isinstance(node, ast.Call):
            return None
        for keyword in node.keywords:
            if keyword.arg is None or (keyword.arg == "id" and not isinstance(keyword.value, ast.Constant)):
                raise Unsure
            self.names.value(keyword.value)
        given = next((each.value for each in node.keywords if each.arg == "id"), None)
        if not isinstance(given, ast.Constant):
            return None
        if not isinstance(given.value, str | None):
            raise Unsure
        return given.value

    # Names

    def _assign(self, target: ast.expr, given: ast.expr, *, is_certain: bool) -> None:
        if isinstance(target, ast.Name) and target.id == "__all__":
            self._export(given, is_certain=is_certain)
        elif isinstance(given, ast.Call) and self.names.is_maker(given.func):
            if not isinstance(target, ast.Name) or not is_certain or len(given.args) != 1:
                raise Unsure
            module_id = self._id_given(given, given.func)
            self.names.value(given.args[0])
            self.names.bind(target.id, Value(Kind.MODULE, module_id))
        else:
            self._bind_all(target, self.names.value(given))

    def _export(self, given: ast.expr, *, is_certain: bool) -> None:
        if self.exported is not None or not is_certain or not isinstance(given, ast.List | ast.Tuple):
            raise Unsure
        names = [each.value if isinstance(each, ast.Constant) else None for each in given.elts]
        self.exported = frozenset(each for each in names if isinstance(each, str))
        if len(self.exported) < len(names):
            raise Unsure

    def _bind_all(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name():
                self.names.bind(target.id, value)
            case ast.Tuple() | ast.List():
                for each in target.elts:
                    inner = each.value if isinstance(each, ast.Starred) else each
                    self._bind_all(inner, value if value.kind is Kind.DATA else UNKNOWN)
            case ast.Attribute() | ast.Subscript():
                # A mark in another module is nothing to us; what is set in a class or in this very file is.
                owner = self.names.value(target.value).kind
                if owner not in (Kind.IMPORTED, Kind.DATA, Kind.FUNCTION) or "__name__" in ast.unparse(target):
                    raise Unsure
            case _:
                raise Unsure

    def refuse_hidden_makers(self, tree: ast.Module) -> None:
        """Raises Unsure for modules that are made in another way than by a decorator or a call of its own."""
        for node in ast.walk(tree):
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    is_hidden = self.names.is_maker(node) and id(node) not in self._makers
                    if name in _UNREADABLE or is_hidden:
                        raise Unsure


def _callee(decorator: ast.expr) -> ast.expr:
    return decorator.func if isinstance(decorator, ast.Call) else decorator
