"""The pages of usage and of errors: to be read."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apcore.telemetry.latency import bin_of
from django_apcore.models import ErrorRecord, UsageBucket
from django_apcore.runtime import Runtime
from django_apcore.testing import allow_all, override_runtime
from tests.django_apcore import stage

pytestmark = pytest.mark.django_db
USAGE = "/admin/django_apcore/usagebucket/"
ERRORS = "/admin/django_apcore/errorrecord/"


@pytest.fixture(autouse=True)
def runtime(db: None) -> Iterator[Runtime]:
    with override_runtime(modules=stage.MODULES, installed=False, acl=allow_all()) as built:
        yield built


def bucket(module_id: str = "test.plain.echo", *, hours_ago: int = 0, **fields: object) -> UsageBucket:
    now = timezone.now()
    start = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=hours_ago)
    known = {"caller_type": "user", "latency_bin": bin_of(12), "calls": 7, "errors": 2, "total_ms": 84.0}
    return UsageBucket.objects.create(module_id=module_id, start=start, last_called_at=now, **{**known, **fields})


def error(**fields: object) -> ErrorRecord:
    now = timezone.now()
    known = {
        "fingerprint": "f" * 32,
        "module_id": "test.plain.echo",
        "code": "JAMMED",
        "kind": "ModuleError",
        "count": 4,
    }
    return ErrorRecord.objects.create(first_at=now, last_at=now, **{**known, **fields})


def test_modules_are_listed_with_their_figures(admin_client: Client) -> None:
    bucket()
    bucket("test.plain.repeat", hours_ago=30)
    html = admin_client.get(USAGE).content.decode()
    assert "7 calls, 2 errors" in html
    assert f"{USAGE}module/test.plain.echo/?hours=24" in html
    assert "12.0" in html
    assert "test.plain.repeat" not in html
    assert "0 own" in html
    assert "14 calls" in admin_client.get(f"{USAGE}?hours=168").content.decode()


@pytest.mark.parametrize("hours", ["", "x", "7", "-1", "99999999"])
def test_an_odd_window_is_the_usual_one(admin_client: Client, hours: str) -> None:
    assert admin_client.get(f"{USAGE}?hours={hours}").context["window"].hours == 24


def test_one_module_is_told_with_callers_hours_and_errors(admin_client: Client) -> None:
    bucket()
    bucket(hours_ago=2, caller_type="agent", calls=3, errors=0)
    error(message="<script>alert(1)</script>\u202ereversed")
    html = admin_client.get(f"{USAGE}module/test.plain.echo/").content.decode()
    assert "\u202e" not in html
    assert "reversed" in html
    assert "10 calls, 2 errors" in html
    assert "agent" in html
    assert html.count("<progress") == 2
    assert "JAMMED" in html
    assert "<script>alert" not in html


def test_a_module_that_nobody_called_has_a_page_and_one_that_is_none_has_not(admin_client: Client) -> None:
    assert "Nobody called it" in admin_client.get(f"{USAGE}module/test.plain.echo/").content.decode()
    assert admin_client.get(f"{USAGE}module/no.such/").status_code == 404


def test_usage_needs_a_permission(client: Client) -> None:
    user = User.objects.create_user("sam", is_staff=True)
    client.force_login(user)
    assert client.get(USAGE).status_code == 403
    assert client.get(f"{USAGE}module/test.plain.echo/").status_code == 403
    user.user_permissions.add(Permission.objects.get(codename="view_usagebucket"))
    assert client.get(USAGE).status_code == 200
    assert client.get(ERRORS).status_code == 403


def test_nothing_can_be_changed(admin_client: Client) -> None:
    row, failure = bucket(), error()
    for address, key in ((USAGE, row.pk), (ERRORS, failure.pk)):
        assert admin_client.get(f"{address}add/").status_code == 403
        assert admin_client.post(f"{address}{key}/delete/", {"post": "yes"}).status_code == 403
        assert "_save" not in admin_client.get(f"{address}{key}/change/").content.decode()


@pytest.mark.parametrize("address", [USAGE, f"{USAGE}module/test.plain.echo/"])
def test_a_page_costs_the_same_queries_however_much_there_is(admin_client: Client, address: str) -> None:
    bucket()
    admin_client.get(address)
    with CaptureQueriesContext(connection) as few:
        admin_client.get(address)
    for number in range(20):
        bucket(f"test.m{number}")
        bucket(caller_type=f"kind{number}", hours_ago=number)
    with CaptureQueriesContext(connection) as many:
        admin_client.get(address)
    assert len(many) == len(few)


def test_errors_are_listed_and_read(admin_client: Client) -> None:
    failure = error(message="It jams <b>", trace_id="a" * 32)
    html = admin_client.get(ERRORS).content.decode()
    assert "JAMMED (ModuleError)" in html
    assert "It jams &lt;b&gt;" in html
    assert "a" * 32 in admin_client.get(f"{ERRORS}{failure.pk}/change/").content.decode()
