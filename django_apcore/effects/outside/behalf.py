"""Who asks: the module, or what serves the whole process and may work in the course of a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Final

_LOG: Final = ("logging", "Logger.callHandlers")
"""A line of the log must not break a module, and handlers may send it elsewhere."""

_SERVING: Final = {
    "network": frozenset(
        {
            _LOG,
            # the project's databases; what is written over such a connection is judged by itself
            ("django.db.backends.base.base", "BaseDatabaseWrapper.connect"),
            # a span has ended, and its exporter does not wait for a thread of its own
            ("opentelemetry.sdk.trace.export", "SimpleSpanProcessor.on_end"),
        }
    ),
    "process": frozenset(
        {
            # the standard library asks the machine about itself
            ("uuid", "getnode"),
            ("platform", "_Processor.from_subprocess"),
            ("ctypes.util", "find_library"),
        }
    ),
    "signal": frozenset(),
    "file": frozenset(
        {
            _LOG,
            ("logging", "FileHandler._open"),
            # a metric that this process has for the first time, where several share them
            ("prometheus_client.mmap_dict", "MmapedDict.__init__"),
        }
    ),
}
"""Functions, by module and name, below which nothing of a module's own runs."""


_let_pass: ContextVar[frozenset[str]] = ContextVar("django_apcore_let_pass", default=frozenset())


@contextmanager
def let_pass(*kinds: str) -> Iterator[None]:
    """What the block does is the house's own: a cache that is asked, a storage that saves."""
    token = _let_pass.set(_let_pass.get().union(kinds))
    try:
        yield
    finally:
        _let_pass.reset(token)


def is_of_the_house(frame: FrameType | None, kind: str) -> bool:
    """Whether the house or one of the functions above is at work. Looked up only when something may be refused."""
    if kind in _let_pass.get():
        return True
    serving = _SERVING[kind]
    while frame is not None:
        if (frame.f_globals.get("__name__"), frame.f_code.co_qualname) in serving:
            return True
        frame = frame.f_back
    return False
