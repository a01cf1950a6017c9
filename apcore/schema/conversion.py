"""From validated JSON to Python arguments, and from a Python result to JSON (§5.11.4, §5.15.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from apcore.errors import ModuleExecuteError
from apcore.schema.plain_types import TypeDescription

RESULT_KEY: Final = "result"

Binder = Callable[[dict[str, Any]], dict[str, Any]]
Serialiser = Callable[[Any], dict[str, Any]]


def make_binder(inputs: Mapping[str, TypeDescription], further: TypeDescription | None) -> Binder:
    """A function from validated inputs to keyword arguments; it costs next to nothing where nothing is converted."""
    load_further = further.load if further else None
    loads = {name: each.load for name, each in inputs.items() if each.load}
    # JSON knows one kind of number: 1.0 is a valid integer, and a function that asks for int shall get one
    integers = tuple(
        name for name, each in inputs.items() if each.load is None and each.schema.get("type") == "integer"
    )

    def take_plain(given: dict[str, Any]) -> dict[str, Any]:
        for name in integers:
            if given.get(name).__class__ is float:
                return _with_integers(given, integers)
        return given

    def load_all(given: dict[str, Any]) -> dict[str, Any]:
        arguments = dict(take_plain(given))
        for name, value in given.items():
            load = loads.get(name) if name in inputs else load_further
            if load is not None:
                arguments[name] = load(name, value)
        return arguments

    return load_all if loads or load_further else take_plain


def make_serialiser(dump: Callable[[Any], Any] | None, *, is_object: bool) -> Serialiser:
    """A function from the result to the output; what is not declared as an object goes under ``result``."""
    if not is_object:
        return lambda result: {RESULT_KEY: result if dump is None else dump(result)}
    if dump is None:
        return _as_object
    return lambda result: _as_object(dump(result))


def _with_integers(given: dict[str, Any], integers: tuple[str, ...]) -> dict[str, Any]:
    return {
        name: int(value) if name in integers and isinstance(value, float) else value for name, value in given.items()
    }


def _as_object(result: Any) -> dict[str, Any]:
    if result.__class__ is dict:
        return result
    if isinstance(result, Mapping):
        return dict(result)
    if result is None:
        raise ModuleExecuteError("Return value cannot be None")
    raise ModuleExecuteError(f"Return value must be an object (dict), not {type(result).__name__}")
