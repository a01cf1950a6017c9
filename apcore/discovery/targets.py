"""From `package.module:callable` to the callable (§5.12.3)."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from apcore.errors import (
    BindingCallableNotFoundError,
    BindingInvalidTargetError,
    BindingModuleNotFoundError,
    BindingNotCallableError,
)

_NAME: Final = r"[^\W\d]\w*"
_TARGET: Final = re.compile(rf"(?P<module>{_NAME}(\.{_NAME})*):(?P<callable>{_NAME}(\.{_NAME})*)")


def resolve_target(target_string: str) -> Callable[..., Any]:
    """The function, or the method of a fresh instance for `package.module:Class.method` (§5.12.3).

    Raises BindingInvalidTargetError (not of that form, or a class alone), BindingModuleNotFoundError (the import
    failed), BindingCallableNotFoundError (no such name, or the class cannot be instantiated) and
    BindingNotCallableError.
    """
    found = _TARGET.fullmatch(target_string)
    details = {"target_id": target_string}
    if found is None:
        raise BindingInvalidTargetError(
            f"The target '{target_string}' is not of the form 'package.module:callable'", details=details
        )
    value = _attribute(_imported(found["module"], details), found["callable"], details)
    if not callable(value):
        raise BindingNotCallableError(f"The target '{target_string}' is not callable", details=details)
    if inspect.isclass(value):
        raise BindingInvalidTargetError(
            f"The target '{target_string}' is a class; name a method of it, or register it as a module", details=details
        )
    function: Callable[..., Any] = value
    return function


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
