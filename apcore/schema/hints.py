"""The annotations of a function as types (§5.11.4)."""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NotRequired, Required, get_args, get_origin

from apcore.errors import FuncMissingReturnTypeError, FuncMissingTypeHintError, InvalidInputError
from apcore.schema.docstrings import Docstring, parse_docstring
from apcore.schema.plain_types import UNRESOLVED

_CONTEXT_ROOM: Final = "apcore.context"
_LEFT_OUT: Final = object()
"""The default of a key that a TypedDict does not require; like others that only Python knows, it is not shown."""


@dataclass(frozen=True, slots=True)
class ParameterHint:
    """A parameter that becomes an input: its type, and its default (``inspect.Parameter.empty`` if it has none)."""

    name: str
    annotation: Any
    default: Any


@dataclass(frozen=True, slots=True)
class FunctionHints:
    """What a signature says; ``further`` is the type of ``**options: T``, or ``inspect.Parameter.empty``.

    ``has_positional_only`` tells that some parameters cannot be given by name, although inputs have names.
    """

    name: str
    parameters: tuple[ParameterHint, ...]
    further: Any
    context_parameter: str | None
    has_positional_only: bool
    returns: Any


def read_hints(function: Callable[..., Any]) -> FunctionHints:
    """Resolves what the signature says; ``self``, ``cls`` and the context are no inputs.

    Raises ``FuncMissingTypeHintError``, ``FuncMissingReturnTypeError``, and ``InvalidInputError`` for ``*args``, which
    have no names, and for ``Field()`` as a default.
    """
    name = _name_of(function)
    signature = _signature_of(function, name)
    hints = _resolved(function)
    context_parameter: str | None = None
    further: Any = inspect.Parameter.empty
    parameters: list[ParameterHint] = []
    for index, parameter in enumerate(signature.parameters.values()):
        if index == 0 and parameter.name in {"self", "cls"} and parameter.name not in hints:
            continue
        annotation = _annotation_of(parameter, hints, name)
        if _is_context(annotation):
            context_parameter = parameter.name
        elif parameter.kind is parameter.VAR_KEYWORD and _is_unpacked(annotation):
            parameters += _named_in(*annotation.__args__)
        elif parameter.kind is parameter.VAR_KEYWORD:
            further = annotation
        else:
            parameters.append(ParameterHint(parameter.name, annotation, parameter.default))
    has_positional_only = any(each.kind is each.POSITIONAL_ONLY for each in signature.parameters.values())
    return FunctionHints(
        name, tuple(parameters), further, context_parameter, has_positional_only, _return_type(hints, name)
    )


def _is_unpacked(annotation: Any) -> bool:
    """``Unpack[…]``, of ``typing`` or of ``typing_extensions``, which are not the same thing."""
    return getattr(getattr(annotation, "__origin__", None), "_name", None) == "Unpack"


def _named_in(typed_dict: Any) -> Iterator[ParameterHint]:
    """What ``**options: Unpack[Options]`` takes: the keys of the TypedDict."""
    for name, annotation in typing.get_type_hints(typed_dict, include_extras=True).items():
        # where annotations are texts, the class itself does not see these marks
        mark = get_origin(annotation) if get_origin(annotation) in {Required, NotRequired} else None
        is_required = mark is Required if mark else name in typed_dict.__required_keys__
        default = inspect.Parameter.empty if is_required else _LEFT_OUT
        yield ParameterHint(name, get_args(annotation)[0] if mark else annotation, default)


def read_docstring(function: Callable[..., Any]) -> Docstring:
    """Of the function itself, below partials; of a callable object that of its class, or else of its ``__call__``."""
    return parse_docstring(inspect.getdoc(_below_partials(function)) or inspect.getdoc(_annotated(function)))


def _signature_of(function: Callable[..., Any], name: str) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except ValueError as error:  # some built-in ones have none
        raise FuncMissingTypeHintError(
            f"'{name}' does not say what its parameters are", details={"function": name}
        ) from error


def _annotation_of(parameter: inspect.Parameter, hints: Mapping[str, Any], function_name: str) -> Any:
    where = f"Parameter '{parameter.name}' of '{function_name}'"
    details = {"function": function_name, "parameter": parameter.name}
    if parameter.kind is parameter.VAR_POSITIONAL:
        raise InvalidInputError(f"{where} stands for values without names, and inputs have names", details=details)
    if type(parameter.default).__module__ == "pydantic.fields":
        raise InvalidInputError(
            f"{where} has Field() as its default, which only a model understands",
            details=details,
            suggestion="Write it as Annotated[type, Field(...)] = default",
        )
    annotation = hints.get(parameter.name, parameter.empty)
    if annotation is parameter.empty:
        raise FuncMissingTypeHintError(f"{where} has no type annotation", details=details)
    if isinstance(annotation, str) and not _names_context(annotation):
        raise FuncMissingTypeHintError(
            f"{where}: the annotation '{annotation}' cannot be resolved", details={**details, UNRESOLVED: annotation}
        )
    return annotation


def _return_type(hints: Mapping[str, Any], function_name: str) -> Any:
    details = {"function": function_name}
    if "return" not in hints:
        raise FuncMissingReturnTypeError(f"'{function_name}' has no return annotation", details=details)
    returns = hints["return"]
    if isinstance(returns, str):
        raise FuncMissingReturnTypeError(
            f"The return annotation '{returns}' of '{function_name}' cannot be resolved",
            details={**details, UNRESOLVED: returns},
        )
    return returns


def _resolved(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations as types; one that cannot be resolved stays the text that it is."""
    owner = _annotated(function)
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except NameError:
        # Often one name is imported for type checkers only: the others need not suffer.
        return {name: _resolved_alone(owner, name, hint) for name, hint in inspect.get_annotations(owner).items()}


def _resolved_alone(owner: Any, name: str, hint: Any) -> Any:
    namespace = getattr(inspect.unwrap(owner), "__globals__", {})
    stand_in = type("Annotations", (), {"__annotations__": {name: hint}})
    try:
        return typing.get_type_hints(stand_in, globalns=namespace, include_extras=True)[name]
    except NameError:
        return hint


def _below_partials(function: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _annotated(function: Callable[..., Any]) -> Any:
    function = _below_partials(function)
    if inspect.isroutine(function) or inspect.isclass(function):
        return function
    return type(function).__call__


def _name_of(function: Callable[..., Any]) -> str:
    function = _below_partials(function)
    return getattr(function, "__qualname__", type(function).__qualname__)


def _is_context(annotation: Any) -> bool:
    """Whether the type is the Context, or that or None; known by name, because schemas lie below contexts."""
    if isinstance(annotation, str):
        return _names_context(annotation)
    candidates = [annotation, *get_args(annotation)]
    return any(
        base.__name__ == "Context" and base.__module__.startswith(_CONTEXT_ROOM)
        for candidate in candidates
        if isinstance(candidate, type)
        for base in candidate.__mro__
    )


def _names_context(annotation: str) -> bool:
    return re.search(r"\bContext\b", annotation) is not None
