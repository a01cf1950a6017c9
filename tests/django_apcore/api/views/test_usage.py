"""Reading usage."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from django_apcore.runtime import get
from tests.django_apcore.api.conftest import account, client_of, url

pytestmark = pytest.mark.django_db(databases="__all__")  # a call enrols every database


@pytest.fixture
def viewer(agent: APIClient) -> APIClient:
    return client_of(account("viewer", "view_usagebucket"))


def call(client: APIClient, module_id: str, times: int = 1, **inputs: Any) -> None:
    for _ in range(times):
        client.post(url(f"modules/{module_id}/call/"), {"inputs": inputs}, format="json")


def test_all_modules_are_summarised(agent: APIClient, viewer: APIClient) -> None:
    call(agent, "groups.find", 3, name="x")
    call(agent, "groups.fail", 1, how="badly")
    told = viewer.get(url("usage/")).json()
    assert (told["total_calls"], told["total_errors"], told["error_rate"], told["hours"]) == (4, 1, 0.25, 24)
    assert [(each["module_id"], each["call_count"]) for each in told["modules"]] == [
        ("groups.find", 3),
        ("groups.fail", 1),
    ]


def test_one_module_is_told_with_its_callers_and_hours(agent: APIClient, viewer: APIClient) -> None:
    call(agent, "groups.find", 2, name="x")
    told = viewer.get(url("usage/?module_id=groups.find&hours=2")).json()
    assert (told["call_count"], told["error_count"]) == (2, 0)
    assert sum(each["call_count"] for each in told["callers"].values()) == 2
    assert sum(each["call_count"] for each in told["trend"]) == 2
    [kind] = told["callers"]
    assert viewer.get(url(f"usage/?module_id=groups.find&caller_type={kind}")).json()["call_count"] == 2
    assert viewer.get(url("usage/?caller_type=nobody")).json()["total_calls"] == 0


def test_a_module_that_nobody_called_has_zero_calls(viewer: APIClient) -> None:
    assert viewer.get(url("usage/?module_id=groups.find")).json()["call_count"] == 0


def test_a_module_that_does_not_exist_is_not_found(viewer: APIClient) -> None:
    answer = viewer.get(url("usage/?module_id=no.such"))
    assert (answer.status_code, answer.json()["code"]) == (404, "MODULE_NOT_FOUND")


def test_a_module_that_is_gone_still_has_its_usage(viewer: APIClient) -> None:
    get().app.usage.record("gone.module", caller_type="user", duration_ms=1)
    assert viewer.get(url("usage/?module_id=gone.module")).json()["call_count"] == 1


def test_usage_needs_a_permission(agent: APIClient) -> None:
    answer = agent.get(url("usage/"))
    assert answer.status_code == 403
    assert "total_calls" not in answer.json()
    assert APIClient().get(url("usage/")).status_code == 401


@pytest.mark.parametrize(
    "query",
    ["hours=0", "hours=-1", "hours=x", "hours=", "hours=999999", "hours=1e3", "module_id=a%00b", "caller_type=%00"],
)
def test_what_cannot_be_asked_is_refused(viewer: APIClient, query: str) -> None:
    assert viewer.get(url(f"usage/?{query}")).status_code == 400


def test_reading_writes_nothing(agent: APIClient, viewer: APIClient, django_assert_max_num_queries: Any) -> None:
    call(agent, "groups.find", 1, name="x")
    with django_assert_max_num_queries(8) as queries:
        viewer.get(url("usage/"))
    assert not [each["sql"] for each in queries if not each["sql"].lstrip().upper().startswith("SELECT")]
