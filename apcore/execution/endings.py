"""What foreign code may end with, and what of it ends more than that code."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from apcore.context import tells_to_stop
from apcore.errors import ModuleExecuteError
from apcore.execution.streaming import ConsumerLeft
from apcore.execution.windows import DeadlineInterrupt

_ENDINGS: Final = (KeyboardInterrupt, GeneratorExit, asyncio.CancelledError, DeadlineInterrupt, ConsumerLeft)
"""What ends more than the code that raises it."""


def as_callers_see(error: BaseException, function: Callable[..., Any]) -> BaseException:
    """``error`` of ``function`` itself, or an exception in the place of one that would end more than the call.

    Code that calls `sys.exit()`, or raises what no caller catches, ends its own call, and not a process that serves
    others and would be started again to the same end. A StopIteration neither leaves a coroutine nor fits into a
    future: whoever waited for it would wait for ever.

    Whoever asks raises the answer where it caught the error, by a bare ``raise`` if it is that: a function that did so
    for all would be two frames more in every traceback.
    """
    if isinstance(error, StopIteration):
        return RuntimeError(f"{getattr(function, '__qualname__', 'A function')} raised StopIteration")
    if isinstance(error, (Exception, *_ENDINGS)) or tells_to_stop(error):
        return error
    kind = type(error).__name__
    what = "tried to end the process" if isinstance(error, SystemExit) else f"raised {kind}, which is no Exception"
    return ModuleExecuteError(f"The module {what}", details={"type": kind})
