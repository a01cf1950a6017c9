"""People in front of the admin."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.django_apcore.admin.factories import approver, person, viewer


@pytest.fixture
def ada(db: None) -> User:
    """May view and decide."""
    return approver("ada")


@pytest.fixture
def victor(db: None) -> User:
    """May view only."""
    return viewer("victor")


@pytest.fixture
def stranger(db: None) -> User:
    """A member of staff with nothing to do here."""
    return person("sam")


@pytest.fixture
def ada_client(ada: User) -> Client:
    return _logged_in(ada)


@pytest.fixture
def victor_client(victor: User) -> Client:
    return _logged_in(victor)


@pytest.fixture
def stranger_client(stranger: User) -> Client:
    return _logged_in(stranger)


def _logged_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client
