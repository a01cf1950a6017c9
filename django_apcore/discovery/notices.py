"""What is only warned about while modules are found and admitted: files left out, keys that mean nothing…"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

_LOGGERS = ("apcore.discovery", "apcore.registry", "django_apcore.discovery")


@contextmanager
def noticed() -> Iterator[list[str]]:
    """Collect the warnings of a search, so that a system check can repeat them; they are logged as well."""
    collector = _Collector()
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addHandler(collector)
    try:
        yield collector.texts
    finally:
        for logger in loggers:
            logger.removeHandler(collector)


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())
