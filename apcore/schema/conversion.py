"""From validated JSON to Python arguments, and from a Python result to JSON (§5.11.4, §5.15.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from apcore.errors import ModuleExecuteError
from apcore.schema.plain_types import TypeDescription

RESULT_KEY: Final = "result"
_CONTAINERS: Final[Mapping[Any, str]] = {"array": "items", "object": "additionalProperties"}
"""What holds further values, and the keyword that describes them."""

Binder = Callable[[dict[str, Any]], dict[str, Any]]
Serialiser = Callable[[Any], dict[str, Any]]


def make_binder(inputs: Mapping[str, TypeDescription], further: TypeDescription | None) -> Binder:
    """A function from validated inputs to keyword arguments; it costs next to nothing where nothing is converted."""
    # JSON knows one kind of number: 1.0 is a valid integer, and a function that asks for int shall get one
    load_further = (further.load or _load_of_integers(further.schema)) if further else None
    loads = {
        name: load
        for name, each in inputs.items()
        if (load := each.load or (_load_of_integers(each.schema) if each.schema.get("type") != "integer" else None))
    }
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


def _load_of_integers(schema: Mapping[str, Any]) -> Callable[[str, Any], Any] | None:
    mend = _integers_in(schema)
    return None if mend is None else lambda _, value: mend(value)


def _integers_in(schema: Any) -> Callable[[Any], Any] | None:
    """What makes integers of an integer, or of those in an array or a map; None where there are none."""
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    if kind == "integer":
        return lambda value: int(value) if value.__class__ is float else value
    container = _CONTAINERS.get(kind) if isinstance(kind, str) else None  # a list, where a type of one's own says so
    inner = None if container is None else _integers_in(schema.get(container))
    if inner is None:
        return None
    if kind == "array":
        return lambda value: [inner(each) for each in value] if isinstance(value, (list, tuple)) else value
    return lambda value: {name: inner(each) for name, each in value.items()} if isinstance(value, dict) else value


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
