"""From `package.module:callable` to the callable (§5.12.3)."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib.machinery import SOURCE_SUFFIXES
from types import ModuleType
from typing import Any, Final

from apcore.discovery.loading import imported_anew
from apcore.errors import (
    BindingCallableNotFoundError,
    BindingInvalidTargetError,
    BindingModuleNotFoundError,
    BindingNotCallableError,
)
from apcore.modules import is_installed

_NAME: Final = r"[^\W\d]\w*"
_TARGET: Final = re.compile(rf"(?P<module>{_NAME}(\.{_NAME})*):(?P<callable>{_NAME}(\.{_NAME})*)")


def resolve_target(target_string: str) -> Callable[..., Any]:
    """The function, or the method of a fresh instance for `package.module:Class.method` (§5.12.3).

    Raises BindingInvalidTargetError (not of that form, or a class alone), BindingModuleNotFoundError (the import
    failed), BindingCallableNotFoundError (no such name, or the class cannot be instantiated) and
    BindingNotCallableError.
    """
    details = {"target_id": target_string}
    found = _parsed(target_string, details)
    value = _attribute(_imported(found["module"], details), found["callable"], details)
    if not callable(value):
        raise BindingNotCallableError(f"The target '{target_string}' is not callable", details=details)
    if inspect.isclass(value):
        raise BindingInvalidTargetError(
            f"The target '{target_string}' is a class; name a method of it, or register it as a module", details=details
        )
    function: Callable[..., Any] = value
    return function


def target_anew(target_string: str) -> AbstractContextManager[None]:
    """Within the block the file of the target is imported again, as by `imported_anew`; raises as that.

    What the standard library or an installed distribution brings stays as it is: others hold its classes. Raises
    BindingInvalidTargetError.
    """
    importlib.invalidate_caches()
    name = _parsed(target_string, {"target_id": target_string})["module"]
    file = _file_to_renew(name)
    return nullcontext() if file is None else imported_anew(name, file)


def _parsed(target_string: str, details: dict[str, Any]) -> re.Match[str]:
    found = _TARGET.fullmatch(target_string)
    if found is None:
        raise BindingInvalidTargetError(
            f"The target '{target_string}' is not of the form 'package.module:callable'", details=details
        )
    return found


def _file_to_renew(name: str) -> str | None:
    """The file of a Python module that was imported, if it is source code of the project."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    if spec is None or spec.name != name or not (spec.origin or "").endswith(tuple(SOURCE_SUFFIXES)):
        return None
    return None if is_installed(spec.origin) else str(spec.origin)


def _imported(name: str, details: dict[str, Any]) -> ModuleType:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise BindingModuleNotFoundError(
            f"The module '{name}' of the target '{details['target_id']}' cannot be imported: {type(error).__name__}",
            details=details,
            cause=error,
        ) from error


def _attribute(module: ModuleType, path: str, details: dict[str, Any]) -> Any:
    value: Any = module
    for name in path.split("."):
        try:
            value = getattr(value() if inspect.isclass(value) else value, name)
        except Exception as error:
            raise BindingCallableNotFoundError(
                f"The target '{details['target_id']}' has no '{name}': {type(error).__name__}",
                details=details,
                cause=error,
            ) from error
    return value
