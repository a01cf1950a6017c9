"""Formatters that adapters register to speak of errors in their own protocol (§8.8)."""

from __future__ import annotations

import logging
import threading
from typing import Any, ClassVar, Protocol

from apcore.errors.base import ModuleError
from apcore.errors.general import ErrorFormatterDuplicateError

logger = logging.getLogger(__name__)


class ErrorFormatter(Protocol):
    """Turns an error into the representation of one protocol; must not raise (§8.8.1)."""

    def format(self, error: ModuleError, context: Any) -> dict[str, Any]: ...


class ErrorFormatterRegistry:
    """The formatters by adapter name, one table for the whole process as §8.8.2 demands."""

    _formatters: ClassVar[dict[str, ErrorFormatter]] = {}
    _lock: ClassVar[threading.Lock] = threading.Lock()

    @classmethod
    def register(cls, adapter_name: str, formatter: ErrorFormatter) -> None:
        """Raises ``ErrorFormatterDuplicateError`` if the adapter has a formatter already."""
        with cls._lock:
            if adapter_name in cls._formatters:
                raise ErrorFormatterDuplicateError(
                    f"Adapter '{adapter_name}' has an error formatter already", details={"adapter_name": adapter_name}
                )
            cls._formatters[adapter_name] = formatter

    @classmethod
    def get(cls, adapter_name: str) -> ErrorFormatter | None:
        return cls._formatters.get(adapter_name)

    @classmethod
    def reset(cls) -> None:
        """Forget every formatter; for tests."""
        with cls._lock:
            cls._formatters.clear()


def format_error(error: ModuleError, adapter_name: str, context: Any = None) -> dict[str, Any]:
    """The error as the adapter wants it, or ``error.to_dict()`` if there is no formatter or it fails (§8.8.3)."""
    formatter = ErrorFormatterRegistry.get(adapter_name)
    if formatter is None:
        return error.to_dict()
    try:
        return formatter.format(error, context)
    except Exception:
        logger.exception("The error formatter of adapter '%s' failed", adapter_name)
        return error.to_dict()
