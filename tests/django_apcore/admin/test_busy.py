"""Pages while somebody else writes, and where the database cannot be reached."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from django.contrib.auth.models import User
from django.db import ProgrammingError, connection
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import resolve

from django_apcore import services
from django_apcore.admin.approval_page import page_url
from django_apcore.admin.busy import DatabaseBusyMiddleware
from django_apcore.models import ApprovalRequest
from tests.django_apcore.admin.factories import approval, updates
from tests.django_apcore.trouble import closed

pytestmark = pytest.mark.django_db(transaction=True)

LISTS = ["aclrule", "approvalpolicy", "approvalrequest", "auditentry", "heartbeat", "toggle", "usagebucket"]


@contextmanager
def somebody_writes(*, mode: str = "EXCLUSIVE") -> Iterator[None]:
    """Another connection holds the only place for a writer, for longer than anybody waits here."""
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(connection.settings_dict["NAME"], uri=True, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            if mode != "EXCLUSIVE":
                other.execute("UPDATE django_apcore_approvalrequest SET trace_id = trace_id")
            yield
            other.execute("ROLLBACK")
        return
    other = connection.copy()
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '200ms'")
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute(f"LOCK TABLE django_apcore_approvalrequest IN {mode} MODE")
        yield
    finally:
        other.rollback()
        other.close()
        connection.close()


@pytest.fixture
def request_() -> ApprovalRequest:
    return approval(updates(3))


def test_who_only_reads_reads_on(admin_client: Client, request_: ApprovalRequest) -> None:
    entry = services.append("test.happened", subject=request_.subject)
    pages = [f"/admin/django_apcore/{name}/" for name in LISTS]
    pages += ["/admin/", page_url(request_), f"/admin/django_apcore/auditentry/{entry.pk}/change/"]
    pages += ["/admin/django_apcore/auditentry/verify/", "/admin/django_apcore/aclrule/add/"]
    with somebody_writes():
        assert {page: admin_client.get(page).status_code for page in pages} == dict.fromkeys(pages, 200)


def test_who_decides_is_asked_to_try_again(admin_client: Client, request_: ApprovalRequest) -> None:
    form = {"reason": "No.", "seen_digest": request_.effect_digest}
    address = page_url(request_).replace("change", "reject")
    with somebody_writes():
        answer = admin_client.post(address, form)
    html = answer.content.decode()
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "see how things stand before you send it again" in html
    request_.refresh_from_db()
    assert request_.status == ApprovalRequest.Status.PENDING
    assert admin_client.post(address, form).status_code == 302


def test_a_page_that_cannot_be_read_says_so(admin_client: Client, request_: ApprovalRequest) -> None:
    with somebody_writes(mode="ACCESS EXCLUSIVE"):
        answer = admin_client.get(f"{page_url(request_)}?p=2")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert f'<a href="{page_url(request_)}?p=2">Load the page again</a>' in answer.content.decode()


def test_who_logs_in_is_told_too(client: Client) -> None:
    User.objects.create_user("ada", password="secret", is_staff=True)
    # On PostgreSQL only the requests are locked, and nobody needs those to log in.
    expected = 503 if connection.vendor == "sqlite" else 302
    with somebody_writes():
        assert client.post("/admin/login/", {"username": "ada", "password": "secret"}).status_code == expected


@pytest.mark.parametrize(
    ("path", "error", "is_answered"),
    [
        ("/admin/", closed(), True),
        ("/admin/", ProgrammingError("no such table"), False),
        ("/api/apcore/tasks/", closed(), False),
    ],
)
def test_other_pages_and_other_errors_are_left_alone(path: str, error: Exception, is_answered: bool) -> None:
    asked: HttpRequest = RequestFactory().get(path)
    asked.resolver_match = resolve(path)
    answer = DatabaseBusyMiddleware(lambda request: HttpResponse()).process_exception(asked, error)
    assert (answer is not None) is is_answered
