"""Submitting, running and cancelling asynchronous tasks."""

import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone

from apcore import ACL, Context, ModuleAnnotations, module
from apcore.errors import ACLDeniedError, ModuleDisabledError, ModuleNotFoundError, SchemaValidationError
from django_apcore import services
from django_apcore.exceptions import TaskForbidden, TaskNotFound
from django_apcore.models import AsyncTask, AuditEntry, Heartbeat
from django_apcore.runtime import Runtime
from django_apcore.secrets import decrypt
from django_apcore.signals import task_finished
from django_apcore.testing import override_runtime
from tests.django_apcore import stage
from tests.django_apcore.stage import context_for, make_user

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "other"])

Status = AsyncTask.Status
ECHO = "test.plain.echo"
LAZY = """
class Lazy:
    description = "Comes late"
    input_schema = output_schema = {"type": "object"}
    def execute(self, inputs, context): return {}
"""


@pytest.fixture
def submitted(runtime: Runtime, requester: User, queue: Any) -> AsyncTask:
    return services.submit(ECHO, {"text": "a"}, context_for(requester))


def add(runtime: Runtime, function: Callable[..., Any], module_id: str, **options: Any) -> None:
    runtime.registry.register(module_id, module(function, id=module_id, **options))


@pytest.mark.req("R-5.8-06")
def test_a_call_is_stored_and_sent_to_a_worker(
    runtime: Runtime, requester: User, queue: Callable[[], list[Any]]
) -> None:
    task = services.submit(ECHO, {"text": "a"}, context_for(requester))
    assert (task.status, task.requested_by, task.trace_id) == (Status.PENDING, requester, task.context_json["trace_id"])
    assert decrypt(task.inputs_encrypted)["effective"] == {"text": "a"}
    [message] = queue()
    assert (message.headers["task"], message.payload[0]) == ("apcore.run_task", [str(task.pk)])
    assert AuditEntry.objects.get(kind="task.submitted").subject == task.subject


@pytest.mark.req("R-5.8-12")
def test_hopeless_calls_are_refused_at_once(runtime: Runtime, requester: User, queue: Any) -> None:
    context = context_for(requester)
    with pytest.raises(ModuleNotFoundError):
        services.submit("test.none", {}, context)
    with pytest.raises(SchemaValidationError):
        services.submit(ECHO, {"text": 1}, context)
    services.toggle(ECHO, enabled=False, actor=None)
    with pytest.raises(ModuleDisabledError):
        services.submit(ECHO, {"text": "a"}, context)
    with override_runtime(modules=stage.MODULES, installed=False, acl=ACL()), pytest.raises(ACLDeniedError):
        services.submit("test.payments.charge", {"amount": 1, "token": ""}, context)
    assert not AsyncTask.objects.exists()


@pytest.mark.req("R-5.8-01", "R-5.8-07")
def test_a_worker_runs_it(submitted: AsyncTask, signals: Any) -> None:
    with signals(task_finished) as heard:
        task = services.run_task(submitted.pk)
    assert (task.status, task.progress) == (Status.COMPLETED, 100)
    assert decrypt(task.result_encrypted) == task.result_redacted == {"result": "a"}
    assert task.started_at is not None
    assert task.finished_at is not None
    assert len(heard) == 1
    assert AuditEntry.objects.filter(kind="task.completed").count() == 1


@pytest.mark.req("R-5.8-02")
def test_a_finished_task_stays_as_it_is(submitted: AsyncTask) -> None:
    services.run_task(submitted.pk)
    services.run_task(submitted.pk)
    services.cancel_task(submitted.pk, actor=submitted.requested_by)
    submitted.refresh_from_db()
    assert submitted.status == Status.COMPLETED
    assert AuditEntry.objects.filter(kind="task.completed").count() == 1


def test_the_module_runs_with_the_identity_of_who_submitted(runtime: Runtime, requester: User, queue: Any) -> None:
    def who(context: Context) -> str:
        """Tell who calls."""
        assert context.identity is not None
        return f"{context.identity.id} {context.trace_id}"

    add(runtime, who, "test.who")
    task = services.submit("test.who", {}, context_for(requester))
    assert services.run_task(task.pk).result_redacted == {"result": f"{requester.pk} {task.trace_id}"}


def test_errors_are_kept_without_secrets(runtime: Runtime, requester: User, queue: Any) -> None:
    def fail() -> str:
        """Fail."""
        raise ValueError("s3cret")

    add(runtime, fail, "test.fail")
    task = services.run_task(services.submit("test.fail", {}, context_for(requester)).pk)
    assert task.status == Status.FAILED
    assert task.error is not None
    assert task.error["code"] == "MODULE_EXECUTE_ERROR"
    assert "s3cret" not in str(task.error)


def test_a_module_that_does_not_load_in_the_worker_fails_the_task(
    runtime: Runtime, requester: User, queue: Any, tmp_path: Path
) -> None:
    config = {"extensions": {"root": tmp_path, "lazy_load": True}}
    (tmp_path / "lazy.py").write_text(LAZY)
    runtime.registry.discover(config)
    task = services.submit("lazy", {}, context_for(requester))
    runtime.registry.unregister("lazy")
    (tmp_path / "lazy.py").write_text(f"{LAZY}    def on_load(self): raise OSError\n")
    runtime.registry.discover(config)
    sys.modules.pop(next(each for each in sys.modules if each.endswith(".lazy") and each.startswith("apcore_ext")))

    task = services.run_task(task.pk)

    assert task.status == Status.FAILED
    assert task.error is not None
    assert task.error["code"] == "MODULE_LOAD_ERROR"


def test_progress_is_written_while_it_runs(runtime: Runtime, requester: User, queue: Any) -> None:
    seen: list[tuple[int, str]] = []

    def work(context: Context) -> int:
        """Work in two halves."""
        for half in (1, 2):
            context.report_progress(half, 2, f"half {half}")
            task = AsyncTask.objects.get(status=Status.RUNNING)
            seen.append((task.progress, task.progress_message))
        return 2

    add(runtime, work, "test.work")
    services.run_task(services.submit("test.work", {}, context_for(requester)).pk)
    assert seen == [(50, "half 1"), (100, "half 2")]


def test_progress_inside_a_transaction_is_no_effect(runtime: Runtime, requester: User, queue: Any) -> None:
    def work(context: Context) -> int:
        """Work in a transaction."""
        context.report_progress(1, 1)
        return AsyncTask.objects.get().progress_done

    add(runtime, work, "test.work", effect="transactional")
    task = services.run_task(services.submit("test.work", {}, context_for(requester)).pk)
    assert task.result_redacted == {"result": 0}


@pytest.mark.req("R-5.8-08", "R-5.8-13")
def test_a_waiting_task_is_cancelled_without_being_called(submitted: AsyncTask, requester: User) -> None:
    task = services.cancel_task(submitted.pk, identity=context_for(requester).identity)
    assert task.status == Status.CANCELLED
    assert task.started_at is not None
    assert services.run_task(task.pk).status == Status.CANCELLED
    assert not AuditEntry.objects.filter(kind="task.completed").exists()


@pytest.mark.req("R-5.8-08")
def test_a_running_task_is_cancelled_at_its_next_check(runtime: Runtime, requester: User, queue: Any) -> None:
    def work(context: Context) -> int:
        """Be cancelled while working."""
        services.cancel_task(AsyncTask.objects.get().pk, actor=requester)
        AsyncTask.objects.get(status=Status.RUNNING, cancel_requested=True)
        assert context.cancel_token is not None
        while True:
            context.cancel_token.check()

    add(runtime, work, "test.work", timeout_ms=20_000)
    task = services.run_task(services.submit("test.work", {}, context_for(requester)).pk)
    assert task.status == Status.CANCELLED


def test_only_who_submitted_may_cancel_or_who_manages_tasks(submitted: AsyncTask) -> None:
    other = make_user("other")
    for actor, identity in [(other, None), (None, context_for(other).identity), (None, None)]:
        with pytest.raises(TaskForbidden):
            services.cancel_task(submitted.pk, actor=actor, identity=identity)
    other.user_permissions.add(Permission.objects.get(codename="change_asynctask"))
    services.cancel_task(submitted.pk, actor=User.objects.get(pk=other.pk))


@pytest.mark.req("R-5.8-11")
@pytest.mark.parametrize("unknown", ["", "nonsense", "00000000-0000-0000-0000-000000000000"])
def test_an_unknown_task_is_not_found(unknown: str) -> None:
    for service in (services.run_task, services.find_task, services.cancel_task):
        with pytest.raises(TaskNotFound):
            service(unknown)  # type: ignore[operator]  # services of several kinds


@pytest.mark.parametrize(("repeatable", "status"), [(True, "completed"), (False, "failed")])
def test_a_task_whose_worker_was_lost_runs_again_only_if_that_is_safe(
    runtime: Runtime, requester: User, queue: Any, repeatable: bool, status: str
) -> None:
    def work() -> int:
        """Work."""
        return 1

    add(runtime, work, "test.work", annotations=ModuleAnnotations(idempotent=repeatable))
    task = services.submit("test.work", {}, context_for(requester))
    AsyncTask.objects.update(status="running", celery_id="message-1")
    assert services.run_task(task.pk, celery_id="message-2").status == "running"
    task = services.run_task(task.pk, celery_id="message-1")
    assert task.status == status
    assert (task.error or {}).get("code") == (None if repeatable else "TASK_WORKER_LOST")


def test_a_task_that_takes_its_workers_with_it_fails_after_the_third(
    runtime: Runtime, requester: User, queue: Any
) -> None:
    def work() -> int:
        """Work."""
        return 1

    add(runtime, work, "test.work", annotations=ModuleAnnotations(idempotent=True))
    task = services.submit("test.work", {}, context_for(requester))
    AsyncTask.objects.update(status="running", celery_id="message", workers_lost=2)
    task = services.run_task(task.pk, celery_id="message")
    assert (task.status, task.workers_lost) == (Status.FAILED, 3)
    assert (task.error or {})["code"] == "TASK_WORKER_LOST"
    assert AuditEntry.objects.get(kind="task.failed").data == {"code": "TASK_WORKER_LOST"}


@pytest.mark.parametrize(
    ("silent_for", "restarted", "is_gone"),
    [
        (timedelta(seconds=30), False, False),
        (timedelta(minutes=9), False, True),
        (None, False, True),
        (timedelta(0), True, True),
    ],
    ids=["alive", "silent", "never heard of", "started anew"],
)
def test_a_task_whose_worker_is_gone_comes_to_an_end(
    submitted: AsyncTask, queue: Any, silent_for: timedelta | None, restarted: bool, is_gone: bool
) -> None:
    now = timezone.now()
    began = now - timedelta(minutes=10)
    AsyncTask.objects.update(status="running", celery_id="lost", worker="celery@there", started_at=began)
    if silent_for is not None:
        since = began + timedelta(minutes=1 if restarted else -1)
        Heartbeat.objects.create(name="worker:celery@there", at=now - silent_for, details={"since": since.isoformat()})
    queue()
    assert services.dispatch_submitted() == is_gone
    assert len(queue()) == is_gone
    task = services.run_task(submitted.pk, celery_id="another", worker="celery@here")
    assert task.status == (Status.FAILED if is_gone else Status.RUNNING)
    assert (task.error or {}).get("code") == ("TASK_WORKER_LOST" if is_gone else None)


def test_a_task_that_is_taken_over_is_the_new_workers(runtime: Runtime, requester: User, queue: Any) -> None:
    seen: list[tuple[str, int]] = []

    def work() -> int:
        """Look who works."""
        task = AsyncTask.objects.get()
        seen.append((task.worker, task.workers_lost))
        assert services.run_task(task.pk, celery_id="third", worker="celery@elsewhere").status == Status.RUNNING
        return 1

    add(runtime, work, "test.work", annotations=ModuleAnnotations(idempotent=True))
    task = services.submit("test.work", {}, context_for(requester))
    long_ago = timezone.now() - timedelta(minutes=9)
    AsyncTask.objects.update(status="running", celery_id="first", worker="celery@there", started_at=long_ago)
    assert services.run_task(task.pk, celery_id="second", worker="celery@here").status == Status.COMPLETED
    assert seen == [("celery@here", 1)]


def test_waiting_tasks_are_sent_again(submitted: AsyncTask, queue: Callable[[], list[Any]]) -> None:
    queue()
    assert services.dispatch_submitted(older_than=timedelta(minutes=1)) == 0
    AsyncTask.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    assert services.dispatch_submitted(older_than=timedelta(minutes=1)) == 1
    assert [message.payload[0] for message in queue()] == [[str(submitted.pk)]]
    services.run_task(submitted.pk)
    assert services.dispatch_submitted() == 0


def test_a_task_that_needs_an_approval_says_which(runtime: Runtime, requester: User, queue: Any) -> None:
    task = services.submit("test.groups.plan", {"name": "x"}, context_for(requester))
    task = services.run_task(task.pk)
    assert task.status == Status.FAILED
    assert task.error is not None
    assert task.error["code"] == "APPROVAL_PENDING"
    assert services.find_request(task.error["details"]["approval_id"]).status == "pending"


def test_no_task_runs_for_an_account_that_was_closed(runtime: Runtime, requester: User) -> None:
    task = services.submit(ECHO, {"text": "hello"}, context_for(requester))
    User.objects.filter(pk=requester.pk).update(is_active=False)
    task = services.run_task(task.pk)
    assert task.status == "failed"
    assert task.error is not None
    assert task.error["code"] == "ACL_DENIED"


def test_a_task_shows_no_secret_of_its_inputs(runtime: Runtime, requester: User) -> None:
    inputs = {"text": "hello", "secrets": {"password": "c4n4ry-word"}}
    task = services.submit("test.plain.repeat", {"data": inputs}, context_for(requester))
    task = services.run_task(task.pk)
    assert decrypt(task.result_encrypted) == {"said": "hello, c4n4ry-word"}
    assert task.result_redacted == {"said": "hello, ***REDACTED***"}
