"""`module()`: from a function to a module, as a decorator or as a call (§5.11)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any, Final, Unpack, overload

from apcore.errors import InvalidModuleIdError
from apcore.ids import normalize_to_canonical_id
from apcore.modules.callables import innermost
from apcore.modules.function_module import FunctionModule, ModuleOptions

_MADE: Final = "__apcore_modules__"


@overload
def module(
    function: Callable[..., Any],
    /,
    *,
    id: str | None = None,
    **options: Unpack[ModuleOptions],
) -> FunctionModule: ...


@overload
def module(
    function: None = None,
    /,
    *,
    id: str | None = None,
    **options: Unpack[ModuleOptions],
) -> Callable[[Callable[..., Any]], FunctionModule]: ...


def module(
    function: Callable[..., Any] | None = None,
    /,
    *,
    id: str | None = None,  # noqa: A002 - the protocol's name (§5.11.3)
    **options: Unpack[ModuleOptions],
) -> FunctionModule | Callable[[Callable[..., Any]], FunctionModule]:
    """Make a module of a function or a bound method: `@module(...)` above it, or `module(function, ...)` (§5.11).

    Without `id` it is `{python module}.{function}` in canonical form. `description` comes from the first line of the
    docstring, or else from the name. The other options are those of `ModuleOptions`.

    Raises FuncMissingTypeHintError, FuncMissingReturnTypeError (§5.11.11), InvalidModuleIdError when no ID is given and
    none can be made of the name, and TypeError for a class or an unknown option.
    """
    if function is None:
        return lambda decorated: module(decorated, id=id, **options)
    if inspect.isclass(function) or not callable(function):
        raise TypeError(f"module() takes a function or a method, not {function!r}; a class is registered as it is")
    made = FunctionModule(function, id=generate_module_id(function) if id is None else id, **options)
    _leave_in_file(made, inspect.currentframe())
    return made


def modules_made_in(file: ModuleType) -> list[FunctionModule]:
    """What `module()` made at the top level of a Python file, in order, whether or not it was given a name there."""
    return list(vars(file).get(_MADE, ()))


def generate_module_id(
    callable: Callable[..., Any],  # noqa: A002 - the protocol's name
) -> str:
    """`{python module}.{function name}` in canonical form (§5.11.6). Raises InvalidModuleIdError."""
    code = innermost(callable)
    try:
        return normalize_to_canonical_id(f"{code.__module__}.{code.__name__}", "python")
    except InvalidModuleIdError as error:
        error.suggestion = 'Give the module an ID of its own: @module(id="...")'
        raise


def own_id(function_module: FunctionModule) -> str | None:
    """The ID that an author gave to a function module, None where it was made of the function's name."""
    try:
        generated = generate_module_id(function_module.function)
    except InvalidModuleIdError:
        return function_module.id
    return None if function_module.id == generated else function_module.id


def _leave_in_file(made: FunctionModule, frame: FrameType | None) -> None:
    """A call in a file is enough to define a module (§5.11.12), so its result may have no name there."""
    caller = frame and frame.f_back
    if caller and caller.f_locals is caller.f_globals:
        caller.f_globals.setdefault(_MADE, []).append(made)
