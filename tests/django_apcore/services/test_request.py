"""Opening a request: what is stored, what is hidden, what is refused."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.utils import timezone

from apcore import Context, Identity, Rewrite, module
from apcore.errors import ApprovalPendingError
from django_apcore.exceptions import ApprovalForbidden, InsideTransactionError
from django_apcore.models import ApprovalPolicy, ApprovalRequest, AuditEntry
from django_apcore.runtime import Runtime
from django_apcore.secrets import decrypt
from django_apcore.signals import approval_requested
from tests.django_apcore.stage import ask, context_for

pytestmark = pytest.mark.django_db(databases=["default", "other"])


@pytest.mark.req("R-7.1-01", "R-7.8-02", "DR-05")
def test_a_call_that_needs_an_approval_becomes_a_pending_request(runtime: Runtime, requester: User) -> None:
    request = ask(runtime, requester, "test.groups.create", name="new")

    assert request.status == ApprovalRequest.Status.PENDING
    assert request.provenance == "measured"
    assert len(request.effect_digest) == 64
    assert not Group.objects.filter(name="new").exists()


@pytest.mark.req("R-7.3.1-01", "R-7.3.1-03")
def test_it_says_who_asks_for_what(runtime: Runtime, requester: User) -> None:
    requester.groups.add(Group.objects.create(name="clerks"))
    request = ask(runtime, requester, "test.groups.create", name="new")

    assert (request.identity_id, request.identity_type) == (str(requester.pk), "user")
    assert request.identity_roles == ["clerks"]
    assert request.requested_by == requester
    assert request.module_id == "test.groups.create"
    assert request.module_description == "Create a group."
    assert request.annotations["requires_approval"] is True
    assert request.caller_id is None
    assert request.call_chain == ["test.groups.create"]
    assert Context.deserialize(request.context_json).trace_id == request.trace_id


def test_a_nested_call_keeps_its_chain(runtime: Runtime, requester: User) -> None:
    @module(id="test.outer")
    def outer(context: Context) -> bool:
        """Call another module."""
        context.executor.call("test.groups.create", {"name": "nested"}, context)
        return True

    runtime.registry.register("test.outer", outer)
    with pytest.raises(ApprovalPendingError) as pending:
        runtime.executor.call("test.outer", {}, context_for(requester))

    request = ApprovalRequest.objects.get(pk=pending.value.details["approval_id"])
    assert request.caller_id == "test.outer"
    assert request.call_chain == ["test.outer", "test.groups.create"]
    assert request.context_json["call_chain"] == ["test.outer"]


def test_secrets_are_stored_encrypted_and_shown_redacted(runtime: Runtime, requester: User) -> None:
    context = context_for(requester, data={"api_key": "k-123", "plain": "p"})
    context.identity = Identity("7", attrs={"session_token": "k-123"})
    with pytest.raises(ApprovalPendingError):
        runtime.executor.call("test.payments.charge", {"amount": 3, "token": "t0ps3cret"}, context)
    request = ApprovalRequest.objects.get()

    assert request.inputs_redacted == {"amount": 3, "token": "***REDACTED***"}
    assert decrypt(request.inputs_encrypted)["effective"] == {"amount": 3, "token": "t0ps3cret"}
    assert request.context_json["data"] == {"api_key": "***REDACTED***", "plain": "p"}
    everything = f"{ApprovalRequest.objects.values().get()} {list(AuditEntry.objects.values())}"
    assert "t0ps3cret" not in everything
    assert "k-123" not in everything


def test_equal_inputs_of_two_requests_cannot_be_recognised(runtime: Runtime, requester: User) -> None:
    first = ask(runtime, requester, "test.groups.create", name="new")
    second = ask(runtime, requester, "test.groups.create", name="new")
    assert first.inputs_digest != second.inputs_digest
    assert first.effect_digest == second.effect_digest


def test_the_policy_says_how_long_it_waits(runtime: Runtime, requester: User) -> None:
    ApprovalPolicy.objects.create(name="later", pattern="*", position=2, expires_after=timedelta(hours=1))
    first = ApprovalPolicy.objects.create(name="groups", pattern="test.groups.*", expires_after=timedelta(minutes=5))
    ApprovalPolicy.objects.create(name="off", pattern="*", position=-1, active=False)

    request = ask(runtime, requester, "test.groups.create", name="new")
    assert request.policy == first
    assert request.policy_revision == 1
    assert request.expires_at <= timezone.now() + timedelta(minutes=5)

    other = ask(runtime, requester, "test.payments.charge", amount=1, token="")
    assert other.policy is not None
    assert other.policy.name == "later"


def test_without_a_policy_the_setting_counts(runtime: Runtime, requester: User) -> None:
    request = ask(runtime, requester, "test.groups.create", name="new")
    assert request.policy is None
    assert timedelta(hours=23) < request.expires_at - timezone.now() <= timedelta(hours=24)


@pytest.mark.django_db(transaction=True, databases=["default", "other"])
def test_it_is_audited_and_announced(runtime: Runtime, requester: User, signals: Any) -> None:
    with signals(approval_requested) as heard:
        request = ask(runtime, requester, "test.groups.create", name="new")
    assert [news["request"].pk for news in heard] == [request.pk]
    entry = AuditEntry.objects.get(subject=f"approval:{request.pk}")
    assert (entry.kind, entry.actor_type, entry.actor_id) == ("approval.requested", "user", str(requester.pk))
    assert entry.data["effect_digest"] == request.effect_digest
    assert entry.data["inputs"] == {"name": "new"}


@pytest.mark.django_db(transaction=True, databases=["default", "other"])
def test_inside_a_transaction_it_is_refused_since_a_rollback_would_take_it_back(
    runtime: Runtime, requester: User
) -> None:
    with pytest.raises(InsideTransactionError), transaction.atomic():
        runtime.executor.call("test.groups.create", {"name": "new"}, context_for(requester))
    assert not ApprovalRequest.objects.exists()


@pytest.mark.req("DR-16")
@pytest.mark.parametrize(
    "identity",
    [None, Identity("7", "agent"), Identity("7", "service"), Identity("7", "user", attrs={"via": "token"})],
)
def test_what_can_neither_be_previewed_nor_undone_has_to_be_started_by_a_person(
    runtime: Runtime, identity: Identity | None
) -> None:
    with pytest.raises(ApprovalForbidden) as refused:
        runtime.executor.call("test.payments.irreversible", {"amount": 1}, Context.create(identity=identity))
    assert refused.value.details["reason"] == "human_required"
    assert not ApprovalRequest.objects.exists()


@pytest.mark.req("DR-16", "DR-14", "DR-13")
def test_a_person_may_start_it_and_anybody_what_can_be_undone(runtime: Runtime, requester: User) -> None:
    request = ask(runtime, requester, "test.payments.irreversible", amount=1)
    assert (request.provenance, request.effect_total, request.effect_complete) == ("none", 0, False)
    context = Context.create(identity=Identity("bot", "agent"))
    with pytest.raises(ApprovalPendingError):
        runtime.executor.call("test.payments.charge", {"amount": 1, "token": ""}, context)


@pytest.mark.req("DR-16")
@pytest.mark.parametrize("human_initiated", [True, False])
def test_a_policy_decides_who_may_start_it(runtime: Runtime, human_initiated: bool) -> None:
    ApprovalPolicy.objects.create(name="all", human_initiated=human_initiated)
    context = Context.create(identity=Identity("bot", "agent"))
    with pytest.raises(ApprovalForbidden if human_initiated else ApprovalPendingError):
        runtime.executor.call("test.payments.irreversible", {"amount": 1}, context)


@pytest.mark.parametrize("attrs", [{}, {"user_pk": "no number"}, {"user_pk": "99999"}])
def test_identities_that_are_no_users_of_this_project_are_fine(runtime: Runtime, attrs: dict[str, str]) -> None:
    context = Context.create(identity=Identity("sso|ada", "user", attrs=attrs))
    with pytest.raises(ApprovalPendingError):
        runtime.executor.call("test.groups.create", {"name": "new"}, context)
    assert ApprovalRequest.objects.get().requested_by is None


@pytest.mark.parametrize("text", ["\0", "\ud800", "é漢🎵", "a" * 20_000])
def test_any_text_can_be_stored(runtime: Runtime, requester: User, text: str) -> None:
    request = ask(runtime, requester, "test.payments.charge", amount=1, token=text)
    assert decrypt(request.inputs_encrypted)["effective"]["token"] == text


@pytest.mark.req("RW-02", "RW-05", "RW-12")
def test_what_the_caller_sent_and_who_changed_it_is_kept_and_redacted(runtime: Runtime, requester: User) -> None:
    @module(id="test.pay", annotations={"requires_approval": True}, effect="transactional")
    def pay(to: str, password: str) -> dict[str, Any]:
        """Pay somebody."""
        return {"to": to}

    def shorten(module_id: str, inputs: dict[str, Any], context: Context) -> Rewrite:
        return Rewrite.to({"to": inputs["to"][:1], "password": "as secret"}, "one letter is enough")

    runtime.registry.register("test.pay", pay)
    runtime.executor.add_rewriter(shorten)
    request = ask(runtime, requester, "test.pay", to="ada", password="secret")
    hidden = "***REDACTED***"
    assert request.inputs_redacted == {"to": "a", "password": hidden}
    assert request.original_inputs_redacted == {"to": "ada", "password": hidden}
    assert [rewrite["reason"] for rewrite in request.rewrites] == ["one letter is enough"]
    data = AuditEntry.objects.get(kind="approval.requested", subject=request.subject).data
    assert (data["inputs"], data["original_inputs"]) == (request.inputs_redacted, request.original_inputs_redacted)
    assert data["rewrites"] == request.rewrites
    assert "shorten" in data["rewrites"][0]["rewriter"]


@pytest.mark.req("RW-04")
def test_without_a_rewrite_no_original_is_recorded(runtime: Runtime, requester: User) -> None:
    request = ask(runtime, requester, "test.groups.create", name="new")
    data = AuditEntry.objects.get(kind="approval.requested", subject=request.subject).data
    assert not {"original_inputs", "rewrites"} & set(data)
    assert request.rewrites == []
