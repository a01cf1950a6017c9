"""Executing under an approval, as a worker does."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.core.serializers import serialize
from django.utils import timezone

from apcore import Context, module
from apcore.acl import ACL
from apcore.errors import ConfigError, ModuleError
from django_apcore import services
from django_apcore.models import ApprovalPolicy, ApprovalRequest, AuditEntry
from django_apcore.runtime import Runtime
from django_apcore.secrets import decrypt, encrypt
from django_apcore.signals import approval_consumed, approval_failed, approval_superseded
from django_apcore.testing import allow_all, override_runtime
from tests.django_apcore import stage
from tests.django_apcore.stage import ask
from tests.django_apcore.trouble import closed, in_the_way, there_already

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "other"])

Status = ApprovalRequest.Status


@pytest.fixture
def pending(runtime: Runtime, requester: User) -> ApprovalRequest:
    return ask(runtime, requester, "test.groups.create", name="new")


@pytest.fixture
def approved(pending: ApprovalRequest, approver: User, queue: Any) -> ApprovalRequest:
    return services.approve(pending.pk, actor=approver, seen_digest=pending.effect_digest)


def approve(request: ApprovalRequest, approver: User) -> ApprovalRequest:
    return services.approve(request.pk, actor=approver, seen_digest=request.effect_digest, confirmed=True)


@pytest.mark.req("DR-06", "DR-09", "DR-12")
def test_what_was_approved_is_what_commits(approved: ApprovalRequest) -> None:
    request = services.execute_approved(approved.pk)

    assert request.status == Status.CONSUMED
    assert request.committed_digest == request.effect_digest
    assert Group.objects.filter(name="new").count() == 1
    assert decrypt(request.result_encrypted) == {"result": Group.objects.get(name="new").pk}
    assert request.result_redacted == {"result": Group.objects.get(name="new").pk}
    assert request.executed_at is not None
    assert request.finished_at is not None


@pytest.mark.req("DR-14")
def test_it_is_audited_and_announced(approved: ApprovalRequest, signals: Any) -> None:
    with signals(approval_consumed) as heard:
        services.execute_approved(approved.pk)
    assert [news["request"].status for news in heard] == [Status.CONSUMED]
    kinds = AuditEntry.objects.filter(subject=approved.subject).order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == ["approval.requested", "approval.approved", "approval.consumed"]
    data = AuditEntry.objects.get(kind="approval.consumed").data
    assert data["committed_digest"] == data["approved_digest"] == approved.effect_digest
    assert services.verify().ok


@pytest.mark.req("DR-15")
def test_it_happens_once_however_often_it_is_asked_for(approved: ApprovalRequest) -> None:
    for _ in range(3):
        assert services.execute_approved(approved.pk).status == Status.CONSUMED
    assert Group.objects.filter(name="new").count() == 1
    assert AuditEntry.objects.filter(kind="approval.consumed").count() == 1


@pytest.mark.parametrize("status", ["pending", "rejected", "expired", "cancelled", "superseded", "failed"])
def test_nothing_else_is_executed(pending: ApprovalRequest, status: str) -> None:
    ApprovalRequest.objects.update(status=status)
    assert services.execute_approved(pending.pk).status == status
    assert not Group.objects.filter(name="new").exists()


def test_an_approval_that_ran_out_is_not_executed(approved: ApprovalRequest) -> None:
    ApprovalRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert services.execute_approved(approved.pk).status == Status.EXPIRED
    assert not Group.objects.filter(name="new").exists()


def test_an_error_of_the_module_fails_the_request_and_commits_nothing(
    runtime: Runtime, requester: User, approver: User, queue: Any, signals: Any
) -> None:
    approved = approve(ask(runtime, requester, "test.groups.fail"), approver)
    Group.objects.create(name="boom")
    with signals(approval_failed) as heard:
        request = services.execute_approved(approved.pk)
    assert request.status == Status.FAILED
    assert request.failure is not None
    assert request.failure["code"] == "MODULE_EXECUTE_ERROR"
    assert "secret text" not in str(request.failure)
    assert len(heard) == 1
    assert AuditEntry.objects.get(kind="approval.failed").data == {"code": "MODULE_EXECUTE_ERROR"}


@pytest.mark.req("DR-10")
def test_another_effect_is_not_committed_but_asked_for_anew(
    runtime: Runtime, requester: User, approver: User, queue: Any, signals: Any
) -> None:
    Group.objects.create(name="old-1")
    approved = approve(ask(runtime, requester, "test.groups.delete", prefix="old"), approver)
    Group.objects.create(name="old-2")

    with signals(approval_superseded) as heard:
        request = services.execute_approved(approved.pk)

    assert request.status == Status.SUPERSEDED
    assert Group.objects.filter(name__startswith="old").count() == 2
    successor = ApprovalRequest.objects.get(supersedes=request)
    assert (successor.status, successor.effect_total) == (Status.PENDING, 2)
    assert successor.effect_digest != request.effect_digest
    assert successor.requested_by == requester
    assert successor.superseded_reason == "drift"
    assert [(news["request"].pk, news["successor"].pk) for news in heard] == [(request.pk, successor.pk)]
    assert {"approval.superseded", "approval.requested"} <= set(AuditEntry.objects.values_list("kind", flat=True))

    approve(successor, approver)
    assert services.execute_approved(successor.pk).status == Status.CONSUMED
    assert not Group.objects.filter(name__startswith="old").exists()


@pytest.mark.req("R-7.4-23")
def test_the_access_list_is_asked_again(approved: ApprovalRequest) -> None:
    with override_runtime(modules=stage.MODULES, installed=False, acl=ACL()):
        request = services.execute_approved(approved.pk)
    assert request.status == Status.FAILED
    assert request.failure is not None
    assert request.failure["code"] == "ACL_DENIED"


def test_a_module_that_was_changed_is_asked_for_anew(approved: ApprovalRequest) -> None:
    ApprovalRequest.objects.update(module_hash="0" * 64)
    request = services.execute_approved(approved.pk)
    assert request.status == Status.SUPERSEDED
    successor = ApprovalRequest.objects.get(supersedes=request)
    assert successor.superseded_reason == "the module was changed"
    assert decrypt(successor.inputs_encrypted)["effective"] == {"name": "new"}
    assert successor.call_chain == approved.call_chain
    assert not Group.objects.filter(name="new").exists()


def test_a_policy_that_was_changed_is_asked_for_anew(
    runtime: Runtime, requester: User, approver: User, queue: Any
) -> None:
    policy = services.save_policy(ApprovalPolicy(name="all"), actor=None)
    approved = approve(ask(runtime, requester, "test.groups.create", name="new"), approver)
    services.save_policy(policy, actor=None)
    assert services.execute_approved(approved.pk).status == Status.SUPERSEDED
    successor = ApprovalRequest.objects.get(supersedes=approved)
    assert (successor.superseded_reason, successor.policy_revision) == ("the approval policy was changed", 2)


@pytest.mark.req("DR-11")
def test_stored_inputs_that_were_exchanged_are_not_executed(approved: ApprovalRequest) -> None:
    ApprovalRequest.objects.update(inputs_encrypted=encrypt({"effective": {"name": "other"}, "original": None}))
    request = services.execute_approved(approved.pk)
    assert request.status == Status.FAILED
    assert request.failure is not None
    assert request.failure["code"] == "APPROVAL_FORBIDDEN"
    assert AuditEntry.objects.get(kind="approval.misused").data["different"] == ["inputs"]
    assert not Group.objects.filter(name="other").exists()


def test_inputs_that_cannot_be_decrypted_fail_the_request(approved: ApprovalRequest) -> None:
    ApprovalRequest.objects.update(inputs_encrypted="garbage")
    request = services.execute_approved(approved.pk)
    assert request.failure is not None
    assert request.failure["code"] == "STORED_DATA_UNDECRYPTABLE"


def test_a_process_without_an_approval_gate_executes_nothing(approved: ApprovalRequest, settings: Any) -> None:
    settings.APCORE = {"APPROVAL_HANDLER": None}
    with (
        override_runtime(modules=stage.MODULES, installed=False, acl=allow_all()),
        pytest.raises(ConfigError),
    ):
        services.execute_approved(approved.pk)
    approved.refresh_from_db()
    assert approved.status == Status.APPROVED
    assert not Group.objects.filter(name="new").exists()


def test_a_module_that_asks_no_more_does_not_run_past_its_approval(approved: ApprovalRequest) -> None:
    from apcore import module

    @module(id="test.groups.create", effect="transactional")
    def ungated(name: str) -> int:
        """Create a group without asking."""
        return Group.objects.create(name=name).pk

    with override_runtime(modules=[ungated], installed=False, acl=allow_all()):
        request = services.execute_approved(approved.pk)
    assert request.status == Status.SUPERSEDED
    assert not Group.objects.filter(name="new").exists()


def test_a_module_without_a_preview_is_executed_once_confirmed(
    runtime: Runtime, requester: User, approver: User, queue: Any
) -> None:
    approved = approve(ask(runtime, requester, "test.payments.charge", amount=3, token="t0p"), approver)
    request = services.execute_approved(approved.pk)
    assert request.status == Status.CONSUMED
    assert request.committed_digest == request.effect_digest
    assert request.result_redacted == {"charged": 3, "secret": "***REDACTED***"}
    assert "s3cret" not in str(list(AuditEntry.objects.values()))


def test_waiting_requests_are_sent_to_the_workers(
    runtime: Runtime, requester: User, approver: User, queue: Callable[[], list[Any]]
) -> None:
    requests = [approve(ask(runtime, requester, "test.groups.create", name=name), approver) for name in "abcd"]
    pending = ask(runtime, requester, "test.groups.create", name="e")
    manual = ApprovalPolicy.objects.create(name="manual", pattern="none", execute_on_approval=False)
    ApprovalRequest.objects.filter(pk=requests[1].pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    ApprovalRequest.objects.filter(pk=requests[2].pk).update(policy=manual)
    ApprovalRequest.objects.filter(pk=requests[3].pk).update(decided_at=timezone.now() - timedelta(minutes=5))
    queue()

    assert services.dispatch_approved() == 2
    sent = {message.payload[0][0] for message in queue()}
    assert sent == {str(requests[0].pk), str(requests[3].pk)}
    assert str(pending.pk) not in sent
    assert services.dispatch_approved(older_than=timedelta(minutes=1)) == 1


@pytest.mark.parametrize("closed", ["deactivated", "deleted"])
def test_nothing_runs_for_an_account_that_was_closed(requester: User, approved: ApprovalRequest, closed: str) -> None:
    if closed == "deleted":
        requester.delete()
    else:
        User.objects.filter(pk=requester.pk).update(is_active=False)
    request = services.execute_approved(approved.pk)
    assert request.status == Status.FAILED
    assert request.failure is not None
    assert request.failure["code"] == "ACL_DENIED"
    assert not Group.objects.filter(name="new").exists()


@pytest.mark.req("R-10.6-02")
@pytest.mark.parametrize("jammed", [False, True], ids=["executed", "failed"])
def test_a_secret_that_the_module_passes_on_is_kept_nowhere_in_clear(
    runtime: Runtime, requester: User, approver: User, queue: Any, jammed: bool
) -> None:
    request = ask(runtime, requester, "test.vault.lock", pin="c4n4ry-pin")
    approve(request, approver)
    if jammed:
        Group.objects.create(name="jammed")
    request = services.execute_approved(request.pk)
    assert request.status == (Status.FAILED if jammed else Status.CONSUMED)
    assert Group.objects.filter(name="vault c4n4ry-pin").exists() is not jammed

    models = apps.get_app_config("django_apcore").get_models()
    kept = {model.__name__: serialize("json", model._default_manager.all()) for model in models}
    assert "***REDACTED***" in kept["EffectChange"]
    assert [name for name, rows in kept.items() if "c4n4ry" in rows] == []


@pytest.mark.parametrize("trouble", [in_the_way, there_already, closed])
def test_trouble_that_a_module_meets_in_another_one_is_not_the_calls(
    requester: User, approver: User, queue: Any, trouble: Callable[[], Exception]
) -> None:
    due: list[Exception] = []

    @module(id="test.inner", effect="transactional")
    def inner() -> int:
        """Meet trouble."""
        if due:
            raise due.pop()
        return Group.objects.create(name="inner").pk

    @module(id="test.outer", annotations=stage.GATED, effect="transactional")
    def outer(context: Context) -> dict[str, Any]:
        """Leave it to another module."""
        found: dict[str, Any] = context.executor.call("test.inner", {}, context)
        return found

    with override_runtime(modules=(inner, outer), installed=False, acl=allow_all()) as runtime:
        request = approve(ask(runtime, requester, "test.outer"), approver)
        due.append(trouble())
        if trouble is closed:
            with pytest.raises(ModuleError):
                services.execute_approved(request.pk)
            assert services.find_request(request.pk).status == Status.APPROVED
        assert services.execute_approved(request.pk).status == Status.CONSUMED
    assert Group.objects.filter(name="inner").count() == 1


def test_what_leaves_the_database_is_not_done_twice_for_a_row_that_is_there_already(
    runtime: Runtime, requester: User, approver: User, queue: Any
) -> None:
    charged: list[int] = []

    @module(id="test.charge", annotations=stage.GATED, metadata={"x-compensation": "Pay back."})
    def charge(amount: int) -> None:
        """Charge somebody outside, then fail to write it down."""
        charged.append(amount)
        raise there_already()

    runtime.registry.register("test.charge", charge)
    approved = approve(ask(runtime, requester, "test.charge", amount=5), approver)
    assert services.execute_approved(approved.pk).status == Status.FAILED
    assert charged == [5]


def test_workers_that_begin_at_once_are_not_taken_for_lost(
    runtime: Runtime, approved: ApprovalRequest, approver: User
) -> None:
    """As when workers were away, and as many messages about a request wait for them as minutes have passed."""
    others = 3

    def meanwhile(*call: Any) -> None:
        nonlocal others
        if others:
            others -= 1
            services.execute_approved(approved.pk)

    runtime.executor.add_rewriter(meanwhile)
    assert services.execute_approved(approved.pk).status == Status.CONSUMED
    assert Group.objects.filter(name="new").count() == 1


@pytest.mark.parametrize("minutes", [1, 9])
def test_a_call_that_took_its_workers_with_it_fails_once_nobody_can_be_at_it(
    runtime: Runtime, approved: ApprovalRequest, minutes: int
) -> None:
    begun_at = timezone.now() - timedelta(minutes=minutes)
    ApprovalRequest.objects.update(executions_begun=3, execution_begun_at=begun_at)
    request = services.execute_approved(approved.pk)
    assert request.status == (Status.APPROVED if minutes < 5 else Status.FAILED)
    assert (request.failure or {}).get("code") == (None if minutes < 5 else "APPROVAL_WORKER_LOST")
    assert not Group.objects.filter(name="new").exists()
