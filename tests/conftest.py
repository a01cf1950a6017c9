"""Fixtures for every test, above all the real services that some of them need."""

import gc
import logging
import os
import threading
from collections.abc import Callable, Iterator
from functools import cache

import django
import pytest
from hypothesis import settings

from tests import services

settings.register_profile("calm", deadline=None)  # a busy machine is no failure
settings.load_profile("calm")

SERVICES = ("postgresql", "redis", "rabbitmq", "chromium", "promtool", "json-schema-suite")

_available = cache(services.is_available)


def need(service: str) -> None:
    """Skip the test when `service` is absent; fail it where APCORE_REQUIRE_SERVICES=1 wants all to be there."""
    if service not in SERVICES:
        raise ValueError(f"Unknown service {service!r}; known are {', '.join(SERVICES)}")
    if _available(service):
        return
    if os.environ.get("APCORE_REQUIRE_SERVICES") == "1":
        pytest.fail(f"{service} is required and not reachable", pytrace=False)
    pytest.skip(f"{service} is not there")


@pytest.fixture(scope="session")
def require_service() -> Callable[[str], None]:
    return need


@pytest.fixture(scope="session")
def redis_url() -> str:
    need("redis")
    return services.REDIS_URL


@pytest.fixture(scope="session")
def rabbitmq_url() -> str:
    need("rabbitmq")
    return services.RABBITMQ_URL


@pytest.fixture(scope="session")
def chromium_path() -> str:
    need("chromium")
    path = services.chromium()
    assert path is not None
    return path


class _Complaints(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


@pytest.fixture(autouse=True)
def invariants_hold() -> Iterator[None]:
    """No call, approval or task of any test breaks what must hold of all of them (`apcore.events.invariants`)."""
    complaints = _Complaints()
    logger = logging.getLogger("apcore.invariants")
    logger.addHandler(complaints)
    yield
    logger.removeHandler(complaints)
    assert complaints.texts == []


SHARED_THREADS = ("asyncio_", "ThreadPoolExecutor", "OtelBatch", "apcore-deadlines", "apcore-events", "pytest")
"""What serves the whole process, by the beginnings of the names."""


@pytest.fixture(autouse=True)
def threads_end() -> Iterator[None]:
    """No thread of a test goes on in the next one, where what it does would look like a fault of that one."""
    before = set(threading.enumerate())
    yield
    own = [each for each in set(threading.enumerate()) - before if not each.name.startswith(SHARED_THREADS)]
    if own:
        gc.collect()  # a thread that serves an object ends with it
    for thread in own:
        thread.join(10)
    assert [thread.name for thread in own if thread.is_alive()] == []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that are about a database or a Django not under test: they run in the suite of that one."""
    elsewhere = [item for item in items if _belongs_elsewhere(item)]
    config.hook.pytest_deselected(items=elsewhere)
    left_out = set(elsewhere)
    items[:] = [item for item in items if item not in left_out]


def _belongs_elsewhere(item: pytest.Item) -> bool:
    [other] = {"sqlite", "postgresql"} - {os.environ.get("APCORE_TEST_DATABASE", "sqlite")}
    since = item.get_closest_marker("django_from")
    return item.get_closest_marker(other) is not None or (since is not None and _is_older_than(since.args[0]))


def _is_older_than(version: str) -> bool:
    return django.VERSION[:2] < tuple(map(int, version.split(".")))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests marked `postgresql` need that server; `browser` tests need Chromium."""
    if item.get_closest_marker("postgresql"):
        need("postgresql")
    if item.get_closest_marker("browser"):
        need("chromium")
