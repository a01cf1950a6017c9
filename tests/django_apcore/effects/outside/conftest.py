"""A server to be kept from."""

from collections.abc import Iterator

import pytest

from tests.django_apcore.provider import Provider, open_provider


@pytest.fixture
def provider() -> Iterator[Provider]:
    with open_provider() as provider:
        yield provider
