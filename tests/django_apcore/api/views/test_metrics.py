"""The metrics: who may see them, what they say, and that Prometheus can read it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient

from apcore.errors import ModuleError
from apcore.telemetry.metrics import MetricsCollector
from django_apcore import runtime
from django_apcore.models import ApprovalRequest, AsyncTask
from django_apcore.testing import allow_all, override_runtime
from tests.django_apcore.stage import MODULES
from tests.exposition import problems, promtool_problems

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "other"])

URL = "/api/apcore/metrics/"
ON = {"observability": {"metrics": {"enabled": True}}, "metrics_token": "let-me-in"}


@pytest.fixture
def configured(settings: Any) -> None:
    settings.APCORE = {**settings.APCORE, **{key.upper(): value for key, value in ON.items()}}


def scrape(**headers: str) -> Any:
    return APIClient().get(URL, headers=headers)


@pytest.mark.parametrize("header", [None, "Bearer wrong", "Bearer ", "Token let-me-in", "let-me-in"])
def test_without_the_token_nobody_gets_in(configured: None, header: str | None) -> None:
    response = scrape(**({"Authorization": header} if header else {}))
    assert response.status_code == 401
    assert b"apcore_" not in response.content


def test_nor_does_anybody_where_no_token_is_set() -> None:
    assert scrape(Authorization="Bearer None").status_code == 401
    assert scrape(Authorization="Bearer ").status_code == 401


@pytest.mark.parametrize(("staff", "status"), [(True, 200), (False, 403)])
def test_staff_may_look(configured: None, staff: bool, status: int) -> None:
    client = APIClient()
    client.force_authenticate(User.objects.create_user("looker", is_staff=staff))
    assert client.get(URL).status_code == status


@pytest.mark.req("R-10.3-01", "R-10.3-02", "R-10.3-03")
def test_what_was_counted_is_shown_in_a_form_that_prometheus_reads(configured: None) -> None:
    collector: MetricsCollector = runtime.get().app.metrics
    collector.increment("apcore_module_calls_total", {"module_id": "groups.find", "status": "success"})
    response = scrape(Authorization="Bearer let-me-in", Accept="application/openmetrics-text;version=1.0.0")
    assert response.status_code == 200
    assert response["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    text = response.content.decode()
    assert problems(text) == []
    assert 'apcore_module_calls_total{module_id="groups.find",status="success"} 1.0' in text


def test_what_waits_is_asked_from_the_database(configured: None) -> None:
    now = timezone.now()
    common = {"module_id": "m", "trace_id": "a" * 32, "expires_at": now + timedelta(hours=1)}
    ApprovalRequest.objects.create(created_at=now - timedelta(seconds=90), **common)
    ApprovalRequest.objects.create(created_at=now - timedelta(seconds=30), **common)
    ApprovalRequest.objects.create(
        created_at=now, **{**common, "expires_at": now}
    )  # over: nobody can decide on it any more
    AsyncTask.objects.create(module_id="m", trace_id="a" * 32, status=AsyncTask.Status.RUNNING, started_at=now)
    text = scrape(Authorization="Bearer let-me-in").content.decode()
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(lines['apcore_waiting{queue="decision"}']) == 2
    assert 89 < float(lines['apcore_waiting_seconds{queue="decision"}']) < 200
    assert float(lines['apcore_waiting{queue="running"}']) == 1
    assert float(lines['apcore_waiting{queue="outbox"}']) == 0
    assert float(lines['apcore_waiting_seconds{queue="outbox"}']) == 0


def test_where_counting_is_off_the_queues_are_still_shown(settings: Any) -> None:
    settings.APCORE = {**settings.APCORE, "METRICS_TOKEN": "let-me-in"}
    text = scrape(Authorization="Bearer let-me-in").content.decode()
    assert 'apcore_waiting{queue="decision"} 0.0' in text
    assert problems(text) == []


def test_the_usage_of_all_processes_is_shown(configured: None) -> None:
    runtime.get().app.usage.record("groups.find", caller_type="user", duration_ms=20, error_code="X")
    text = scrape(Authorization="Bearer let-me-in").content.decode()
    assert problems(text) == []
    assert 'apcore_usage_calls{module_id="groups.find"} 1.0' in text
    assert 'apcore_usage_errors{module_id="groups.find"} 1.0' in text


@pytest.mark.req("R-10.3-01", "R-10.3-02", "R-10.3-03")
def test_the_linter_of_prometheus_finds_nothing_after_calls_of_every_kind(
    configured: None, require_service: Callable[[str], None]
) -> None:
    require_service("promtool")
    with override_runtime(modules=MODULES, installed=False, acl=allow_all()) as built:
        executor = built.app.executor
        executor.call("test.plain.echo", {"text": 'a"b\\c\n'})
        for module_id, inputs in [("test.plain.echo", {"text": 1}), ('no."such"', {}), ("test.groups.create", {})]:
            with pytest.raises(ModuleError):
                executor.call(module_id, inputs)
        text = scrape(Authorization="Bearer let-me-in").content.decode()
    assert 'module_id="test.plain.echo",status="success"' in text
    assert 'status="error"' in text
    assert promtool_problems(text) == []
