"""Facts about the functions that modules consist of."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from apcore.errors import ModuleError

ROUTINES = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.MethodDescriptorType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)
"""What ``inspect.isroutine`` knows, asked in one look instead of six."""


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives a coroutine; objects with an async `__call__` included."""
    if inspect.iscoroutinefunction(function):
        return True
    return not isinstance(function, ROUTINES) and inspect.iscoroutinefunction(type(function).__call__)


def lacks_its_object(function: Callable[..., Any]) -> bool:
    """Whether it is a method as a class body has it, which nobody could call without an instance."""
    if not isinstance(function, types.FunctionType):
        return False
    first = function.__code__.co_varnames[: function.__code__.co_argcount][:1]
    return first in (("self",), ("cls",)) and first[0] not in function.__annotations__


def by_name(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes by name what this one takes by position only, as built-in ones do."""
    parameters = inspect.signature(function).parameters.values()
    positional = [each for each in parameters if each.kind is each.POSITIONAL_ONLY]

    @functools.wraps(function)
    def call(**inputs: Any) -> Any:
        in_order = [_taken(each, inputs) for each in positional]
        return function(*in_order, **inputs)

    return call


def _taken(parameter: inspect.Parameter, inputs: dict[str, Any]) -> Any:
    if parameter.name in inputs:
        return inputs.pop(parameter.name)
    if parameter.default is parameter.empty:
        raise TypeError(f"the argument {parameter.name!r} is missing")
    return parameter.default


def innermost(function: Callable[..., Any]) -> Any:
    """The function below partials and decorators; for a callable object, its class."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    return function if hasattr(function, "__qualname__") else type(function)


def callable_attribute(owner: Any, name: str) -> Callable[..., Any] | None:
    """The attribute if there is one and it can be called; a value of that name is no hook."""
    attribute = getattr(owner, name, None)
    return attribute if callable(attribute) else None


def given(module: Any, name: str) -> Any:
    """What a module gives under a name, None for nothing. Raises ValueError for a property that fails.

    A property that raises AttributeError is no absence: annotations that nobody can read are not "none".
    """
    try:
        value = getattr(module, name, None)
        if value is None and getattr(type(module), name, None) is not None:
            value = getattr(module, name)
    except ModuleError:
        raise
    except Exception as error:
        raise ValueError(f"{name} raised {type(error).__name__}: {error}") from error
    return value
