"""Fixtures for every test, above all the real services that some of them need."""

import os
from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import settings

from tests import services

settings.register_profile("calm", deadline=None)  # a busy machine is no failure
settings.load_profile("calm")

SERVICES = ("postgresql", "redis", "rabbitmq", "chromium", "json-schema-suite")

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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that are about the database not under test: they run in the suite of that one."""
    [other] = {"sqlite", "postgresql"} - {os.environ.get("APCORE_TEST_DATABASE", "sqlite")}
    elsewhere = [item for item in items if item.get_closest_marker(other)]
    config.hook.pytest_deselected(items=elsewhere)
    items[:] = [item for item in items if not item.get_closest_marker(other)]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests marked `postgresql` need that server; `browser` tests need Chromium."""
    if item.get_closest_marker("postgresql"):
        need("postgresql")
    if item.get_closest_marker("browser"):
        need("chromium")
