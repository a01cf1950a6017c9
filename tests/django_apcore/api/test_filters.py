"""Narrowing lists, with what the database would choke on."""

import pytest
from rest_framework.test import APIClient

from tests.django_apcore.api.conftest import url

pytestmark = pytest.mark.django_db(databases="__all__")


@pytest.mark.parametrize("list_path", ["approvals/", "tasks/"])
@pytest.mark.parametrize("query", ["module_id=%00", "module_id=groups.find%00", "status=%00", "status=perhaps"])
def test_what_no_row_can_have_is_refused(agent: APIClient, list_path: str, query: str) -> None:
    response = agent.get(url(f"{list_path}?{query}"))
    assert (response.status_code, response.json()["code"]) == (400, "GENERAL_INVALID_INPUT")
