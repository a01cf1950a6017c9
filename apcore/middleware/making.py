"""Objects from class paths in a configuration, with errors that say what is wrong where."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from apcore.errors import ConfigError, ModuleError
from apcore.redaction import SensitiveValues, redact_text


def made_from(path: Any, config: Any, place: str) -> Any:
    """What the class, or another callable, at a dotted path returns for the arguments in ``config``.

    Raises ConfigError, with ``place`` in its message, for a path that cannot be imported or is not callable, for
    unknown and missing arguments, and for values that the class refuses.
    """
    factory = imported(path, f"{place}.class")
    if not callable(factory):
        raise ConfigError(f"{place}.class: {path} is {type(factory).__name__}, neither a class nor a function")
    if config is not None and not (isinstance(config, Mapping) and all(isinstance(key, str) for key in config)):
        raise ConfigError(f"{place}.config must be an object with the arguments of {path}, not {type(config).__name__}")
    arguments = dict(config or {})
    _require_known(factory, path, arguments, place)
    try:
        return factory(**arguments)
    except Exception as error:
        what = error.message if isinstance(error, ModuleError) else f"{type(error).__name__}: {error}"
        said = f"{path} cannot be made of it: {what}"
        shown = redact_text(SensitiveValues(arguments).hide(said))
        if shown != said:
            raise ConfigError(f"{place}.config: {shown}") from None  # neither may a traceback show it
        raise ConfigError(f"{place}.config: {shown}", cause=error) from error


def imported(path: Any, place: str) -> Any:
    """What a dotted path names, an attribute of a class included. Raises ConfigError."""
    if not isinstance(path, str) or "." not in path.strip("."):
        raise ConfigError(f"{place} must be a dotted path like 'package.module.ClassName', not {path!r}")
    module_name, names = path, list[str]()
    while "." in module_name:
        module_name, _, name = module_name.rpartition(".")
        names.insert(0, name)
        try:
            found: Any = import_module(module_name)
        except ImportError as error:
            if _is_about(error, module_name):
                continue
            raise ConfigError(f"{place}: {path} cannot be imported: {error}", cause=error) from error
        except Exception as error:
            what = f"{type(error).__name__} in {module_name}"
            raise ConfigError(f"{place}: {path} cannot be imported: {what}", cause=error) from error
        for name in names:
            if not hasattr(found, name):
                raise ConfigError(f"{place}: {path} does not exist: {found.__name__} has no {name!r}")
            found = getattr(found, name)
        return found
    raise ConfigError(f"{place}: {path} cannot be imported: there is no module {module_name!r}")


def _is_about(error: ImportError, module_name: str) -> bool:
    """Whether the module itself is missing, rather than something that it imports."""
    missing = error.name
    is_missing = isinstance(error, ModuleNotFoundError) and missing is not None
    return is_missing and f"{module_name}.".startswith(f"{missing}.")


def _require_known(factory: Any, path: str, arguments: Mapping[str, Any], place: str) -> None:
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return  # a callable without a signature says itself what it does not take
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return
    named = {each.name: each for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}
    unknown = sorted(set(arguments) - set(named))
    if unknown:
        known = ", ".join(named) or "none"
        raise ConfigError(f"{place}.config has {', '.join(unknown)}, which {path} does not take; it takes: {known}")
    missing = [name for name, each in named.items() if each.default is each.empty and name not in arguments]
    if missing:
        raise ConfigError(f"{place}.config lacks {', '.join(missing)}, without which {path} cannot be made")
