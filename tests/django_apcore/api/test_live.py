"""The story over real HTTP, with real clients and a real web server."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from django.contrib.auth.models import Group, User
from pytest_django.live_server_helper import LiveServer
from rest_framework.authtoken.models import Token

from django_apcore.models import ApprovalPolicy, ApprovalRequest
from tests.django_apcore.api.conftest import account, url

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")


class Caller:
    """A program with a token."""

    def __init__(self, server: LiveServer, session: requests.Session, user: User) -> None:
        self.server, self.session = server, session
        session.headers["Authorization"] = f"Token {Token.objects.create(user=user).key}"

    def post(self, path: str, body: object, **headers: str) -> requests.Response:
        return self.session.post(self.server.url + url(path), json=body, headers=headers, timeout=30)

    def call(self, module_id: str, inputs: dict[str, Any], **headers: str) -> requests.Response:
        return self.post(f"modules/{module_id}/call/", {"inputs": inputs}, **headers)


@pytest.fixture
def sessions() -> Iterator[Any]:
    opened: list[requests.Session] = []

    def session() -> requests.Session:
        opened.append(requests.Session())
        return opened[-1]

    yield session
    for each in opened:
        each.close()


@pytest.fixture
def service(live_server: LiveServer, sessions: Any) -> Caller:
    return Caller(live_server, sessions(), account("service"))


@pytest.fixture
def boss(live_server: LiveServer, sessions: Any) -> Caller:
    return Caller(live_server, sessions(), account("boss", "decide_approvalrequest"))


def test_asked_previewed_signed_committed_collected(
    service: Caller, boss: Caller, by_the_caller: ApprovalPolicy, api_runtime: object
) -> None:
    Group.objects.bulk_create(Group(name=f"squad {number}") for number in range(3))
    inputs = {"name": "squad", "reference": "s3cret"}
    asked = service.call("groups.delete", inputs, **{"Idempotency-Key": "erase-squads"})
    assert asked.status_code == 202
    assert asked.headers["Location"] == asked.json()["status_url"]
    token, digest = asked.json()["approval_id"], asked.json()["preview"]["digest"]
    assert service.call("groups.delete", inputs, **{"Idempotency-Key": "erase-squads"}).content == asked.content
    assert Group.objects.filter(name__startswith="squad").count() == 3

    assert service.post(f"approvals/{token}/approve/", {"seen_digest": digest, "confirmed": True}).status_code == 403
    signed = boss.post(f"approvals/{token}/approve/", {"seen_digest": digest, "confirmed": True, "reason": "yes"})
    assert (signed.status_code, signed.json()["status"]) == (200, "approved")

    other = service.call("groups.delete", {"name": "squad"}, **{"Apcore-Approval-Token": token})
    assert (other.status_code, other.json()["code"]) == (403, "APPROVAL_FORBIDDEN")
    done = service.call("groups.delete", inputs, **{"Apcore-Approval-Token": token})
    assert (done.status_code, done.json()["result"]["deleted"]) == (200, 3)
    again = service.call("groups.delete", inputs, **{"Apcore-Approval-Token": token})
    assert (again.status_code, again.json()["code"]) == (409, "APPROVAL_CONFLICT")

    request = ApprovalRequest.objects.get()
    assert (request.status, request.committed_digest) == ("consumed", digest)
    assert not Group.objects.filter(name__startswith="squad").exists()


def test_a_person_logs_in_and_calls_with_the_session(live_server: LiveServer, sessions: Any) -> None:
    User.objects.create_superuser("root", password="open sesame")
    browser = sessions()
    login = live_server.url + "/admin/login/"
    browser.get(login, timeout=30)
    form = {"username": "root", "password": "open sesame", "csrfmiddlewaretoken": browser.cookies["csrftoken"]}
    browser.post(login, data=form, headers={"Referer": login}, timeout=30)

    target, body = live_server.url + url("modules/groups.find/call/"), {"inputs": {"name": ""}}
    assert browser.post(target, json=body, timeout=30).status_code == 403
    headers = {"X-CSRFToken": browser.cookies["csrftoken"]}
    assert browser.post(target, json=body, headers=headers, timeout=30).status_code == 200


def test_status_codes_that_http_does_not_know_get_through(service: Caller) -> None:
    response = service.call("groups.stop", {})
    assert (response.status_code, response.json()["code"]) == (499, "EXECUTION_CANCELLED")


def test_links_lead_back_to_where_the_request_came_from(service: Caller) -> None:
    task = service.post("modules/groups.find/submit/", {"inputs": {"name": ""}}).json()
    assert urlsplit(task["status_url"]).netloc == urlsplit(service.server.url).netloc
    assert service.session.get(task["status_url"], timeout=30).json()["id"] == task["task_id"]


def test_a_body_that_is_larger_than_it_says_ends_where_it_said(service: Caller) -> None:
    body = b'{"inputs": {"name": ""}}'
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    target = service.server.url + url("modules/groups.find/call/")
    assert service.session.post(target, data=body, headers=headers, timeout=30).status_code == 200
