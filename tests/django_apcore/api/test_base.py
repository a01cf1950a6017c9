"""Who gets in, and what every answer has, whatever it answers."""

import base64
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import resolve
from rest_framework.test import APIClient

from tests.django_apcore.api.conftest import account, call, url

pytestmark = pytest.mark.django_db(databases="__all__")  # a call enrols every database

SOME_ID = "5f0c0f5e-6b1c-4f0e-9d0a-0b7f3a1f7b52"
READS = [
    "modules/",
    "modules/groups.find/",
    "modules/groups.find/schema/",
    "tasks/",
    f"tasks/{SOME_ID}/",
    "approvals/",
    f"approvals/{SOME_ID}/",
    f"approvals/{SOME_ID}/changes/",
    "schema/",
    "docs/",
    "",
    "nothing/",
]
WRITES = [
    "modules/groups.find/call/",
    "modules/groups.find/validate/",
    "modules/groups.find/submit/",
    f"tasks/{SOME_ID}/cancel/",
    *(f"approvals/{SOME_ID}/{verb}/" for verb in ("approve", "reject", "cancel", "remeasure")),
]


@pytest.mark.parametrize("path", [*READS, *WRITES])
def test_anonymous_callers_are_asked_who_they_are_everywhere(path: str) -> None:
    client = APIClient()
    response = client.post(url(path), {}, format="json") if path in WRITES else client.get(url(path))
    assert response.status_code == 401
    assert response.json()["code"] == "REQUEST_UNAUTHENTICATED"
    assert response["WWW-Authenticate"] == "Token"


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete", "options", "head"])
def test_no_method_gets_past_that(method: str) -> None:
    for path in (*READS, *WRITES):
        assert getattr(APIClient(), method)(url(path)).status_code == 401


@pytest.mark.parametrize("credentials", ["Token 0123456789abcdef", "Token", "Token a b", "Bearer x", "Token \xff"])
def test_wrong_credentials_open_nothing(credentials: str) -> None:
    client = APIClient(headers={"Authorization": credentials})
    response = client.get(url("modules/"))
    assert (response.status_code, response.json()["code"]) == (401, "REQUEST_UNAUTHENTICATED")


def test_a_password_is_not_a_way_in() -> None:
    User.objects.create_user("paul", password="open sesame")
    basic = base64.b64encode(b"paul:open sesame").decode()
    assert APIClient(headers={"Authorization": f"Basic {basic}"}).get(url("modules/")).status_code == 401


def test_the_token_of_a_deactivated_account_opens_nothing(agent: APIClient) -> None:
    User.objects.filter(username="agent").update(is_active=False)
    assert agent.get(url("modules/")).status_code == 401


def test_a_session_needs_its_csrf_token_to_write() -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(account("carla"))
    assert client.get(url("modules/")).status_code == 200

    refused = call(client, "groups.find", {"name": ""})
    assert (refused.status_code, refused.json()["code"]) == (403, "REQUEST_FORBIDDEN")
    assert "CSRF" in refused.json()["message"]

    client.cookies["csrftoken"] = "a" * 32
    assert call(client, "groups.find", {"name": ""}, **{"X-CSRFToken": "a" * 32}).status_code == 200


def test_a_token_needs_none(agent: APIClient) -> None:
    agent.handler.enforce_csrf_checks = True
    assert call(agent, "groups.find", {"name": ""}).status_code == 200


@pytest.mark.parametrize("given", ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"])
@pytest.mark.req("R-12.2-47", "R-10.1-03", "R-10.5-09")
def test_the_callers_trace_is_continued(agent: APIClient, given: str) -> None:
    response = call(agent, "groups.find", {"name": ""}, traceparent=given)
    assert response.json()["trace_id"] == "4bf92f3577b34da6a3ce929d0e0e4736"
    version, trace_id, span_id, flags = response["traceparent"].split("-")
    assert (version, trace_id, flags) == ("00", "4bf92f3577b34da6a3ce929d0e0e4736", "01")
    assert len(span_id) == 16
    assert span_id != "00f067aa0ba902b7"


@pytest.mark.parametrize("garbage", ["", "00-0-0-0", f"00-{'0' * 32}-00f067aa0ba902b7-01", "ü", "x" * 5000])
@pytest.mark.req("R-12.2-47", "R-10.5-07")
def test_a_bad_trace_is_replaced_and_never_refused(agent: APIClient, garbage: str) -> None:
    response = call(agent, "groups.find", {"name": ""}, traceparent=garbage)
    assert response.status_code == 200
    trace_id = response["traceparent"].split("-")[1]
    assert trace_id == response.json()["trace_id"]
    assert trace_id.strip("0") != ""


def test_answers_stay_out_of_caches_and_errors_have_a_trace_too() -> None:
    response = APIClient().get(url("modules/"), headers={"traceparent": f"00-{'a' * 32}-{'b' * 16}-00"})
    assert "no-store" in response["Cache-Control"]
    assert response["traceparent"].startswith(f"00-{'a' * 32}-")
    assert response.json()["trace_id"] == "a" * 32


def test_a_project_decides_who_is_admitted(configure: Callable[..., None]) -> None:
    configure(API_DOCS_PERMISSION_CLASSES=["rest_framework.permissions.AllowAny"])
    assert APIClient().get(url("schema/")).status_code == 200
    assert APIClient().get(url("modules/")).status_code == 401

    configure(API_PERMISSION_CLASSES=["rest_framework.permissions.IsAdminUser"])
    client = APIClient()
    client.force_login(account("carla"))
    refused = client.get(url("modules/"))
    assert (refused.status_code, refused.json()["code"]) == (403, "REQUEST_FORBIDDEN")


def test_anonymous_callers_may_be_let_in_and_own_nothing(configure: Callable[..., None]) -> None:
    configure(API_PERMISSION_CLASSES=["rest_framework.permissions.AllowAny"])
    anonymous = APIClient()
    pending = call(anonymous, "groups.delete", {"name": "x"})
    assert pending.status_code in {202, 403}
    assert anonymous.get(url("approvals/")).json()["results"] == []
    assert call(anonymous, "groups.find", {"name": ""}, **{"Idempotency-Key": "k"}).status_code == 400
    deciding = anonymous.post(url(f"approvals/{SOME_ID}/cancel/"), {}, format="json")
    assert deciding.status_code == 404


def test_unknown_paths_and_methods_are_answered_in_the_same_form(agent: APIClient) -> None:
    nothing = agent.get(url("nothing/at/all"))
    assert (nothing.status_code, nothing.json()["code"]) == (404, "REQUEST_NOT_FOUND")
    assert "slash" in agent.post(url("modules/groups.find/call"), {}, format="json").json()["suggestion"]
    wrong = agent.delete(url("modules/"))
    assert (wrong.status_code, wrong.json()["code"]) == (405, "REQUEST_METHOD_NOT_ALLOWED")
    assert "GET" in wrong["Allow"]
    assert agent.get(url("tasks/no-uuid/")).json()["code"] == "REQUEST_NOT_FOUND"


def test_only_json_is_answered_and_taken(agent: APIClient) -> None:
    refused = agent.get(url("modules/"), headers={"Accept": "text/csv"})
    assert (refused.status_code, refused.json()["code"]) == (406, "REQUEST_NOT_ACCEPTABLE")
    form = agent.post(url("modules/groups.find/call/"), {"inputs": "{}"}, format="multipart")
    assert (form.status_code, form.json()["code"]) == (415, "REQUEST_UNSUPPORTED_MEDIA_TYPE")
    assert "application/json" in form.json()["suggestion"]


def test_no_view_runs_in_a_transaction_per_request() -> None:
    for path in (*READS, *WRITES):
        assert "default" in resolve(url(path)).func._non_atomic_requests


def test_and_none_does_where_the_project_asks_for_one(agent: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", True)
    assert call(agent, "groups.delete", {"name": "x"}).status_code == 202


def test_a_page_of_the_admin_is_no_part_of_it() -> None:
    assert Client().get("/admin/").status_code == 302
