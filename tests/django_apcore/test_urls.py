"""The REST face below the prefix of the settings."""

from collections.abc import Iterator
from importlib import import_module, reload

import pytest
from django.test import Client, override_settings
from django.urls import clear_url_caches

from django_apcore import urls


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    yield
    mounted()


def mounted() -> None:
    """Make the URLs of the project anew."""
    reload(urls)
    reload(import_module("project.urls"))
    clear_url_caches()


@pytest.mark.django_db
@pytest.mark.req("R-9.13.3-09")
@pytest.mark.parametrize("prefix", ["/governed", "governed/v1/", "/api/apcore"])
def test_endpoints_sit_below_the_prefix(prefix: str, client: Client) -> None:
    with override_settings(APCORE={"URL_PREFIX": prefix}):
        mounted()
        below = client.get(f"/{prefix.strip('/')}/modules/")
        before = client.get("/api/apcore/modules/")

    assert below.status_code == 401
    assert before.status_code == (401 if prefix == "/api/apcore" else 404)
