"""Formatters that adapters register to speak of errors in their own protocol (§8.8)."""

from __future__ import annotations

import logging
import threading
from typing import Any, ClassVar, Protocol, runtime_checkable

from apcore.errors.base import ModuleError
from apcore.errors.general import ErrorFormatterDuplicateError, InvalidInputError
from apcore.errors.requiring import require

logger = logging.getLogger(__name__)


@runtime_checkable
class ErrorFormatter(Protocol):
    """Turns an error into the representation of one protocol; must not raise (§8.8.1)."""

    def format(self, error: ModuleError, context: Any) -> dict[str, Any]: ...


class ErrorFormatterRegistry:
    """The formatters by adapter name, one table for the whole process as §8.8.2 demands."""

    _formatters: ClassVar[dict[str, ErrorFormatter]] = {}
    _lock: ClassVar[threading.Lock] = threading.Lock()

    @classmethod
    def register(cls, adapter_name: str, formatter: ErrorFormatter) -> None:
        """Raises ``ErrorFormatterDuplicateError`` if the adapter has a formatter already, and ``InvalidInputError`` for
        a name that is no text and for what has no ``format()``.
        """
        require("The name of an adapter", adapter_name, str, "a text such as 'mcp'")
        if not adapter_name.strip():
            raise InvalidInputError("The name of an adapter must be a text such as 'mcp', not an empty one (§8.8.2)")
        require(
            f"The formatter of adapter '{adapter_name}'", formatter, ErrorFormatter, "one with format(error, context)"
        )
        with cls._lock:
            if adapter_name in cls._formatters:
                raise ErrorFormatterDuplicateError(
                    f"Adapter '{adapter_name}' has an error formatter already", details={"adapter_name": adapter_name}
                )
            cls._formatters[adapter_name] = formatter

    @classmethod
    def get(cls, adapter_name: str) -> ErrorFormatter | None:
        """The formatter of the adapter, None if it has none."""
        return cls._formatters.get(adapter_name)

    @classmethod
    def reset(cls) -> None:
        """Forget every formatter; for tests."""
        with cls._lock:
            cls._formatters.clear()


def format_error(error: ModuleError, adapter_name: str, context: Any = None) -> dict[str, Any]:
    """The error as the adapter wants it, or ``error.to_dict()`` if there is no formatter or it fails (§8.8.3).

    Never raises. Of an exception of another kind only the type is told.
    """
    given: object = error
    known = given if isinstance(given, ModuleError) else ModuleError(f"Unexpected error ({type(given).__name__})")
    formatter = ErrorFormatterRegistry.get(adapter_name)
    if formatter is None:
        return known.to_dict()
    try:
        formatted: object = formatter.format(known, context)
    except Exception as failure:  # noqa: BLE001 - callers need not handle anything (§8.8.3)
        logger.error("The error formatter of adapter '%s' failed (%s)", adapter_name, type(failure).__name__)
        return known.to_dict()
    if not isinstance(formatted, dict):
        kind = type(formatted).__name__
        logger.error("The error formatter of adapter '%s' returned %s, not a dict", adapter_name, kind)
        return known.to_dict()
    return formatted
