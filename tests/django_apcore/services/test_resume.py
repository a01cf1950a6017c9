"""Coming back with the token."""

from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import Group, User
from django.utils import timezone

from apcore import Context, Identity
from apcore.errors import ApprovalDeniedError, ApprovalPendingError, ApprovalTimeoutError, ModuleError
from django_apcore import services
from django_apcore.exceptions import ApprovalConflict, ApprovalForbidden, ApprovalNotFound
from django_apcore.models import ApprovalRequest, AuditEntry
from django_apcore.runtime import Runtime
from tests.django_apcore.stage import ask, context_for

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "other"])

Status = ApprovalRequest.Status
CREATE = "test.groups.create"


@pytest.fixture
def pending(runtime: Runtime, requester: User) -> ApprovalRequest:
    return ask(runtime, requester, "test.groups.create", name="new")


@pytest.fixture
def approved(pending: ApprovalRequest, approver: User, queue: Any) -> ApprovalRequest:
    return services.approve(pending.pk, actor=approver, seen_digest=pending.effect_digest)


def resume(request: ApprovalRequest, user: User | None, **changes: Any) -> dict[str, Any]:
    call = {"module_id": CREATE, "inputs": {"name": "new"}, "context": context_for(user), **changes}
    return services.resume(request.pk, **call)


@pytest.mark.req("R-7.8-02", "R-7.4-19")
def test_an_approved_call_is_executed_for_its_caller(approved: ApprovalRequest, requester: User) -> None:
    result = resume(approved, requester)
    assert result == {"result": Group.objects.get(name="new").pk}
    approved.refresh_from_db()
    assert approved.status == Status.CONSUMED
    assert approved.committed_digest == approved.effect_digest


def test_the_result_of_a_worker_is_handed_out_once(approved: ApprovalRequest, requester: User) -> None:
    services.execute_approved(approved.pk)
    assert resume(approved, requester) == {"result": Group.objects.get(name="new").pk}
    with pytest.raises(ApprovalConflict) as refused:
        resume(approved, requester)
    assert refused.value.details["reason"] == "already_collected"


@pytest.mark.req("DR-15")
def test_the_same_key_gets_it_again(approved: ApprovalRequest, requester: User) -> None:
    first = resume(approved, requester, idempotency_key="k1")
    assert resume(approved, requester, idempotency_key="k1") == first
    for key in ("k2", "", None):
        with pytest.raises(ApprovalConflict):
            resume(approved, requester, idempotency_key=key)
    assert Group.objects.filter(name="new").count() == 1


def test_a_key_that_was_not_given_the_first_time_is_of_no_use(approved: ApprovalRequest, requester: User) -> None:
    resume(approved, requester)
    with pytest.raises(ApprovalConflict):
        resume(approved, requester, idempotency_key="k1")


@pytest.mark.req("DR-11", "R-7.4-17")
@pytest.mark.parametrize(
    ("changes", "different"),
    [
        ({"module_id": "test.groups.delete"}, "module_id"),
        ({"inputs": {"name": "other"}}, "inputs"),
        ({"inputs": {}}, "inputs"),
        ({"context": Context.create()}, "identity"),
        ({"context": Context.create(identity=Identity("999"))}, "identity"),
    ],
)
@pytest.mark.parametrize("status", ["pending", "approved", "consumed"])
def test_a_token_is_good_for_its_own_call_only(
    approved: ApprovalRequest, requester: User, changes: dict[str, Any], different: str, status: str
) -> None:
    ApprovalRequest.objects.update(status=status)
    with pytest.raises(ApprovalForbidden) as refused:
        resume(approved, requester, **changes)
    assert refused.value.details["reason"] == "binding_mismatch"
    entry = AuditEntry.objects.get(kind="approval.misused")
    assert different in entry.data["different"]
    assert not Group.objects.filter(name__in=["new", "other"]).exists()


@pytest.mark.req("DR-11")
def test_nor_can_it_be_used_past_this_service(runtime: Runtime, approved: ApprovalRequest, requester: User) -> None:
    token = {"_approval_token": str(approved.pk)}
    for inputs, user in [({"name": "other"}, requester), ({"name": "new"}, None)]:
        with pytest.raises(ApprovalForbidden):
            runtime.executor.call(CREATE, {**inputs, **token}, context_for(user))
    with pytest.raises(ApprovalDeniedError):
        runtime.executor.call(CREATE, {"name": "new", "_approval_token": "made up"}, context_for(requester))
    assert runtime.executor.call(CREATE, {"name": "new", **token}, context_for(requester))
    with pytest.raises(ApprovalConflict) as used:
        runtime.executor.call(CREATE, {"name": "new", **token}, context_for(requester))
    assert used.value.details["reason"] == "consumed"


@pytest.mark.req("R-7.4-15")
def test_while_it_is_pending(pending: ApprovalRequest, requester: User) -> None:
    with pytest.raises(ApprovalPendingError) as waiting:
        resume(pending, requester)
    assert waiting.value.details["approval_id"] == str(pending.pk)
    assert waiting.value.details["expires_at"] == pending.expires_at.isoformat()


@pytest.mark.req("R-7.4-15")
def test_after_a_rejection(pending: ApprovalRequest, requester: User, approver: User) -> None:
    services.reject(pending.pk, actor=approver, reason="too many groups")
    with pytest.raises(ApprovalDeniedError, match="too many groups"):
        resume(pending, requester)


@pytest.mark.req("R-7.4-15")
@pytest.mark.parametrize("status", ["pending", "approved"])
def test_after_its_time(pending: ApprovalRequest, requester: User, status: str) -> None:
    ApprovalRequest.objects.update(status=status, expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(ApprovalTimeoutError):
        resume(pending, requester)
    pending.refresh_from_db()
    assert pending.status == Status.EXPIRED


def test_after_it_was_cancelled(pending: ApprovalRequest, requester: User) -> None:
    services.cancel(pending.pk, actor=requester)
    with pytest.raises(ApprovalDeniedError, match="cancelled"):
        resume(pending, requester)


def test_after_it_failed_the_error_is_told(runtime: Runtime, requester: User, approver: User, queue: Any) -> None:
    request = ask(runtime, requester, "test.groups.fail")
    services.approve(request.pk, actor=approver, seen_digest=request.effect_digest)
    Group.objects.create(name="boom")
    services.execute_approved(request.pk)
    for _ in range(2):
        with pytest.raises(ModuleError) as told:
            services.resume(request.pk, module_id="test.groups.fail", inputs={}, context=context_for(requester))
        assert told.value.code == "MODULE_EXECUTE_ERROR"


@pytest.mark.req("DR-10")
def test_drift_is_told_with_the_new_request(runtime: Runtime, requester: User, approver: User, queue: Any) -> None:
    Group.objects.create(name="old-1")
    request = ask(runtime, requester, "test.groups.delete", prefix="old")
    services.approve(request.pk, actor=approver, seen_digest=request.effect_digest, confirmed=True)
    Group.objects.create(name="old-2")
    call = {"module_id": "test.groups.delete", "inputs": {"prefix": "old"}, "context": context_for(requester)}
    for _ in range(2):
        with pytest.raises(ApprovalPendingError) as told:
            services.resume(request.pk, **call)
        successor = ApprovalRequest.objects.get(supersedes=request)
        assert told.value.details["approval_id"] == str(successor.pk)
    assert Group.objects.filter(name__startswith="old").count() == 2


def test_a_changed_module_is_a_conflict(approved: ApprovalRequest, requester: User) -> None:
    ApprovalRequest.objects.update(module_hash="0" * 64)
    with pytest.raises(ApprovalConflict) as refused:
        resume(approved, requester)
    assert refused.value.details["reason"] == "module_changed"


def test_an_unknown_token(requester: User, runtime: Runtime) -> None:
    with pytest.raises(ApprovalNotFound):
        services.resume("nonsense", module_id=CREATE, inputs={}, context=context_for(requester))


@pytest.mark.req("R-7.4-24")
def test_asynchronous_callers_are_governed_as_well(
    runtime: Runtime, requester: User, approver: User, queue: Any
) -> None:
    call = async_to_sync(runtime.executor.call_async)
    with pytest.raises(ApprovalPendingError) as waiting:
        call(CREATE, {"name": "new"}, context_for(requester))
    request = ApprovalRequest.objects.get(pk=waiting.value.details["approval_id"])
    services.approve(request.pk, actor=approver, seen_digest=request.effect_digest)
    token = {"_approval_token": str(request.pk)}
    assert call(CREATE, {"name": "new", **token}, context_for(requester)) == {
        "result": Group.objects.get(name="new").pk
    }
    request.refresh_from_db()
    assert (request.status, request.committed_digest) == (Status.CONSUMED, request.effect_digest)
