"""What Celery runs, and what it keeps of it."""

import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from celery.signals import worker_process_shutdown
from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from django_apcore import services, tasks
from django_apcore.models import ApprovalRequest, AsyncTask
from django_apcore.runtime import Runtime
from django_apcore.testing import allow_all, override_runtime
from tests.django_apcore import stage
from tests.django_apcore.stage import ask, context_for, make_user

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "other"])


@pytest.fixture
def runtime(transactional_db: None) -> Iterator[Runtime]:
    with override_runtime(modules=stage.MODULES, installed=False, acl=allow_all()) as built:
        yield built


@pytest.fixture
def approved(runtime: Runtime) -> ApprovalRequest:
    request = ask(runtime, make_user("rita"), "test.payments.charge", amount=1, token="t0p")
    approver: User = make_user("adam", decides=True)
    return services.approve(request.pk, actor=approver, seen_digest=request.effect_digest, confirmed=True)


def test_the_result_of_an_execution_is_ids_status_and_digests(approved: ApprovalRequest) -> None:
    assert tasks.execute_approved(str(approved.pk)) == {
        "approval_id": str(approved.pk),
        "status": "consumed",
        "effect_digest": approved.effect_digest,
        "committed_digest": approved.effect_digest,
    }


def test_the_result_of_a_task_is_its_id_and_status(runtime: Runtime) -> None:
    task = services.submit("test.payments.irreversible", {"amount": 1}, context_for(make_user("rita")))
    done = tasks.run_task.apply(args=[str(task.pk)]).result
    assert done == {"task_id": str(task.pk), "status": "failed"}  # it waits for an approval
    task = AsyncTask.objects.get()
    assert task.celery_id != ""


def test_of_an_error_only_its_kind_is_kept(approved: ApprovalRequest, caplog: pytest.LogCaptureFixture) -> None:
    def fail(**kwargs: Any) -> None:
        raise ValueError("s3" + "cret")

    with pytest.MonkeyPatch.context() as patch, caplog.at_level(logging.ERROR):
        patch.setattr(services, "execute_approved", lambda request_id: fail())
        with pytest.raises(tasks.WorkerError) as told:
            tasks.execute_approved(str(approved.pk))
    assert str(told.value) == "ValueError (unexpected)"
    assert told.value.__context__ is None
    assert told.value.__cause__ is None
    assert "in fail" in caplog.text
    assert "s3cret" not in caplog.text


def test_an_unknown_id_is_told_by_its_code(runtime: Runtime) -> None:
    with pytest.raises(tasks.WorkerError, match=r"ApprovalNotFound \(APPROVAL_NOT_FOUND\)"):
        tasks.execute_approved("nonsense")


def test_beat_expires_and_sends_again(approved: ApprovalRequest, runtime: Runtime) -> None:
    services.submit("test.plain.echo", {"text": "a"}, context_for(None))
    assert tasks.dispatch_approved() == {"approved": 0, "submitted": 0}
    long_ago = timezone.now() - timedelta(minutes=5)
    ApprovalRequest.objects.update(decided_at=long_ago)
    AsyncTask.objects.update(created_at=long_ago)
    assert tasks.dispatch_approved() == {"approved": 1, "submitted": 1}
    ApprovalRequest.objects.update(expires_at=long_ago)
    assert tasks.expire_approvals() == {"expired": 1}


@pytest.mark.parametrize("kind", [OperationalError, InterfaceError])
def test_a_worker_that_starts_without_a_database_says_so_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, kind: type[Exception]
) -> None:
    def unavailable() -> int:
        raise kind("password authentication failed for user s3cret")

    monkeypatch.setattr(services, "dispatch_approved", unavailable)
    tasks.recover()
    assert "Nothing was recovered" in caplog.text
    assert "s3cret" not in caplog.text


def test_every_task_of_the_schedule_exists() -> None:
    from project.celery import app

    scheduled = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert scheduled <= set(app.tasks)
    assert scheduled == {
        "apcore.expire_approvals",
        "apcore.dispatch_approved",
        "apcore.deliver_outbox",
        "apcore.deliver_webhooks",
        "apcore.keep_records",
        "apcore.prune_usage",
    }


def test_old_usage_is_merged(runtime: Runtime) -> None:
    runtime.app.usage.record("test.plain.echo", caller_type="user", duration_ms=1)
    runtime.app.usage.flush()
    assert tasks.prune_usage() == {"pruned": 0}


def test_the_end_of_a_pools_process_writes_what_it_has_counted(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[bool] = []
    monkeypatch.setattr(type(runtime.flusher), "stop", lambda self: stopped.append(True))
    worker_process_shutdown.send(sender=None)
    assert stopped == [True]
