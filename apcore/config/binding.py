"""Configuration as typed values: one value, or a namespace as a pydantic model or dataclass (§9.9.3)."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from apcore.errors import ConfigBindError, ConfigError
from apcore.redaction import is_sensitive_key

_T = TypeVar("_T")

_PLAIN: Final = (bool, int, float, str)


def bind_namespace(namespace: str, data: Any, cls: type[_T]) -> _T:
    """An instance of the type, from the data of a namespace.

    Only the structure counts: the schema of the namespace is not asked again. Raises ConfigBindError, which names the
    namespace and every failing field.
    """
    pydantic, name = _pydantic(), name_of(cls)
    try:
        bound: _T = pydantic.TypeAdapter(cls).validate_python(data)
    except pydantic.ValidationError as error:
        faults = [_fault(each) for each in error.errors(include_url=False, include_context=False)]
        listed = "; ".join(f"{namespace}.{path} {message}" if path else message for path, message in faults)
        raise ConfigBindError(
            f"Namespace '{namespace}' does not fit {name}: {listed}",
            details={"namespace": namespace, "type": name, "fields": [path for path, _ in faults]},
        ) from None
    except pydantic.errors.PydanticUserError as error:
        raise ConfigBindError(
            f"Namespace '{namespace}' cannot be made a {name}, which is no type that values can be made of",
            details={"namespace": namespace, "type": name},
            cause=error,
        ) from error
    return bound


def typed_value(path: str, value: Any, wanted: Any) -> Any:
    """The value as this type. Raises ConfigError if it is of another.

    A plain value is only checked (a whole number passes as float); other types, as `Path` or `timedelta`, are made.
    """
    pydantic = _pydantic()
    try:
        return pydantic.TypeAdapter(wanted).validate_python(value, strict=wanted in _PLAIN)
    except pydantic.ValidationError as error:
        name = name_of(wanted)
        raise ConfigError(
            f"Configuration value '{path}' is not of type {name}, but {type(value).__name__}",
            details={"path": path, "expected": name, "actual": type(value).__name__, "problems": error.error_count()},
        ) from None
    except pydantic.errors.PydanticUserError as error:
        raise ConfigError(
            f"Configuration value '{path}' cannot be made a {name_of(wanted)}, which is no type",
            details={"path": path, "expected": name_of(wanted)},
            cause=error,
        ) from error


def name_of(wanted: Any) -> str:
    """What a type, or what was given for one, is called in messages."""
    return str(getattr(wanted, "__name__", wanted))


# Loaded when something is bound: it takes longer than everything else that a configuration needs.
def _pydantic() -> Any:
    return importlib.import_module("pydantic")


def _fault(error: Mapping[str, Any]) -> tuple[str, str]:
    """Path and message; pydantic's messages do not repeat the value, except those of custom validators."""
    path = ".".join(map(str, error["loc"]))
    hides = any(is_sensitive_key(part) for part in path.split("."))
    return path, "is not valid" if hides else str(error["msg"])
