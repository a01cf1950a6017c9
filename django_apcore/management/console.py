"""What a command leaves on the terminal beside its answer."""

import logging
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout

_VERBOSE = 2
_OURS = ("apcore", "django_apcore")


@contextmanager
def kept_clean(verbosity: int) -> Iterator[None]:
    """Inside, standard output is for the answer alone: spans, and whatever modules print, go to standard error.

    Below verbosity 2 handlers that write to the terminal leave out what `apcore` logs below a warning. Other handlers,
    a file for example, get all of it.
    """
    with ExitStack() as stack:
        if verbosity < _VERBOSE:
            for handler in _terminal_handlers():
                handler.addFilter(_matters)
                stack.callback(handler.removeFilter, _matters)
        stack.enter_context(redirect_stdout(sys.stderr))
        yield


def _terminal_handlers() -> list[logging.Handler]:
    loggers = [logging.getLogger(), *map(logging.getLogger, _OURS)]
    terminal = (sys.stdout, sys.stderr)
    return [each for logger in loggers for each in logger.handlers if getattr(each, "stream", None) in terminal]


def _matters(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] not in _OURS
