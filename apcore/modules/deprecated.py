"""Modules that go out of use still run, and say so (§5.2)."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

from apcore.modules.callables import is_async
from apcore.modules.companion import Deprecation

logger = logging.getLogger("apcore.modules")


def warn_on_use(execute: Callable[..., Any], module_id: str, deprecation: Deprecation) -> Callable[..., Any]:
    """`execute`, with a warning in the log at each call."""
    parts = (
        f"Module '{module_id}' is deprecated",
        deprecation.message,
        deprecation.replacement and f"use '{deprecation.replacement}'",
        deprecation.sunset_date and f"it may be gone after {deprecation.sunset_date.isoformat()}",
    )
    text = "; ".join(str(part) for part in parts if part)

    @functools.wraps(execute)
    def warned(*args: Any) -> Any:
        logger.warning("%s", text)
        return execute(*args)

    @functools.wraps(execute)
    async def warned_async(*args: Any) -> Any:
        logger.warning("%s", text)
        return await execute(*args)

    return warned_async if is_async(execute) else warned
