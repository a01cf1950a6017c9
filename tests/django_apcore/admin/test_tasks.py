"""Asynchronous tasks: to be read, with their progress."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from django_apcore.models import AsyncTask
from tests.django_apcore.admin.factories import person

pytestmark = pytest.mark.django_db
TASKS = "/admin/django_apcore/asynctask/"


def task(**fields: object) -> AsyncTask:
    known: dict[str, object] = {
        "module_id": "store.reports.revenue",
        "inputs_encrypted": "ciphertext",
        "inputs_redacted": {"year": 2012},
        "trace_id": "a" * 32,
        "identity_id": "41",
        "identity_type": "service",
    }
    return AsyncTask.objects.create(**{**known, **fields})


def test_progress_is_shown_in_numbers_and_words(admin_client: Client) -> None:
    task(status="running", progress_done=31, progress_total=60, progress_message="March 2012")
    task(status="running", progress_message="counting")
    task(status="completed")
    task()

    html = admin_client.get(TASKS).content.decode()

    assert 'value="51"' in html
    assert "51 %, March 2012" in html
    assert "counting" in html
    assert "100 %" in html


def test_a_task_is_read_and_not_changed(admin_client: Client) -> None:
    done = task(
        status="failed", error={"code": "X", "message": "<script>alert(1)</script>"}, progress_message="<script>"
    )
    address = f"{TASKS}{done.pk}/change/"

    html = admin_client.get(address).content.decode()

    assert "ciphertext" not in html
    assert "<script>alert" not in html
    assert "&quot;year&quot;: 2012" in html
    assert "_save" not in html
    assert admin_client.get(f"{TASKS}add/").status_code == 403
    assert admin_client.post(f"{TASKS}{done.pk}/delete/", {"post": "yes"}).status_code == 403


def test_the_list_costs_the_same_queries_however_long_it_is(admin_client: Client) -> None:
    task(requested_by=person("petra"))
    admin_client.get(TASKS)

    with CaptureQueriesContext(connection) as few:
        admin_client.get(TASKS)
    for number in range(20):
        task(requested_by=person(f"petra {number}"))
    with CaptureQueriesContext(connection) as many:
        admin_client.get(TASKS)

    assert len(many) == len(few)
