"""Calls: what comes back, in every case that a caller can meet."""

import logging
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group
from rest_framework.test import APIClient

from apcore.approval import ApprovalResult
from apcore.context import Context
from apcore.execution import Rewrite
from apcore.testing import ScriptedApprovalHandler
from django_apcore import runtime, services
from django_apcore.context import DjangoContextFactory
from django_apcore.models import ApprovalPolicy, ApprovalRequest, AsyncTask, AuditEntry
from tests.django_apcore.api.conftest import call, url

# A call enrols every database, and a measurement isolates itself, which needs a transaction of its own.
pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")


@pytest.fixture
def squads() -> None:
    Group.objects.bulk_create(Group(name=f"squad {number}") for number in range(120))


def approve(client: APIClient, pending: Any) -> Any:
    body = {"seen_digest": pending.json()["preview"]["digest"], "confirmed": True}
    return client.post(url(f"approvals/{pending.json()['approval_id']}/approve/"), body, format="json")


def test_a_result_comes_with_its_trace(agent: APIClient) -> None:
    Group.objects.create(name="drivers")
    response = call(agent, "groups.find", {"name": "driv"})
    assert response.status_code == 200
    assert response.json() == {"result": {"names": ["drivers"]}, "trace_id": response["traceparent"].split("-")[1]}


@pytest.mark.req("R-12.2-46")
def test_a_request_becomes_a_context_then_a_call_then_an_answer(
    agent: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[tuple[str, str]] = []
    create_context = DjangoContextFactory.create_context

    def recorded(factory: DjangoContextFactory, request: Any) -> Context:
        context = create_context(factory, request)
        passed.append(("context", context.trace_id))
        return context

    class Recorder:
        def after(self, module_id: str, inputs: Any, output: Any, context: Context) -> None:
            passed.append((module_id, context.trace_id))

    monkeypatch.setattr(DjangoContextFactory, "create_context", recorded)
    runtime.get().executor.use(Recorder(), id="recorder")
    response = call(agent, "groups.find", {"name": ""})
    trace_id = response.json()["trace_id"]
    assert passed == [("context", trace_id), ("groups.find", trace_id)]


@pytest.mark.req("R-9.13.3-10")
@pytest.mark.parametrize(
    ("module_id", "inputs", "status", "code"),
    [
        ("groups.nothing", {}, 404, "MODULE_NOT_FOUND"),
        ("groups.forbidden", {}, 403, "ACL_DENIED"),
        ("staff.report", {}, 403, "ACL_DENIED"),
        ("groups.find", {}, 400, "SCHEMA_VALIDATION_ERROR"),
        ("groups.find", {"name": 5}, 400, "SCHEMA_VALIDATION_ERROR"),
        ("groups.find", {"name": "", "other": 1}, 400, "SCHEMA_VALIDATION_ERROR"),
        ("groups.fail", {"how": "quota"}, 429, "GROUPS_QUOTA_EXCEEDED"),
        ("groups.fail", {"how": "badly"}, 500, "MODULE_EXECUTE_ERROR"),
        ("groups.stop", {}, 499, "EXECUTION_CANCELLED"),
        ("Groups.Find", {}, 400, "INVALID_MODULE_ID"),
    ],
)
def test_errors_have_the_protocols_form_and_status(
    agent: APIClient, module_id: str, inputs: dict[str, Any], status: int, code: str
) -> None:
    response = call(agent, module_id, inputs)
    error = response.json()
    assert (response.status_code, error["code"]) == (status, code)
    assert error["trace_id"] == response["traceparent"].split("-")[1]
    assert error["message"]
    assert error["timestamp"]
    assert None not in error.values()


def test_a_module_that_is_switched_off_answers_403(agent: APIClient) -> None:
    runtime.get().toggles.set("groups.find", False)
    response = call(agent, "groups.find", {"name": ""})
    assert (response.status_code, response.json()["code"]) == (403, "MODULE_DISABLED")


def test_an_error_names_the_field_and_not_the_secret(agent: APIClient) -> None:
    response = call(agent, "groups.delete", {"name": 5, "reference": ["s3cret"]})
    assert {error["path"] for error in response.json()["errors"]} == {"/name", "/reference"}
    assert b"s3cret" not in response.content


def test_the_text_of_foreign_exceptions_stays_inside(agent: APIClient) -> None:
    assert b"hunter2" not in call(agent, "groups.fail", {"how": "badly"}).content


def test_a_fault_of_our_own_is_logged_and_answered_without_its_text(
    agent: APIClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: Any) -> None:
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr("django_apcore.api.views.calls.read_call", broken)
    agent.raise_request_exception = False
    with caplog.at_level(logging.ERROR):
        response = call(agent, "groups.find", {"name": ""})
    assert (response.status_code, response.json()["code"]) == (500, "GENERAL_INTERNAL_ERROR")
    assert b"hunter2" not in response.content
    assert "Unexpected error" in caplog.text


@pytest.mark.parametrize("what", ["nan", "half", "thing"])
@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "k"}])
def test_a_result_that_json_cannot_hold_is_an_error_and_happens_once(
    agent: APIClient, what: str, headers: dict[str, str]
) -> None:
    answers = [call(agent, "groups.count", {"what": what}, **headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [500, 500]
    assert answers[0].json()["code"] in {"MODULE_EXECUTE_ERROR", "SCHEMA_VALIDATION_ERROR"}
    if headers:
        assert answers[0].content == answers[1].content
        assert Group.objects.filter(name__startswith="counted").count() <= 1


def test_an_approval_handler_of_the_projects_own_is_served_too(agent: APIClient) -> None:
    pending, approved = ApprovalResult("pending", approval_id="ticket 7"), ApprovalResult("approved")
    handler = ScriptedApprovalHandler(pending, approved)
    ours = runtime.get()
    runtime.replace(runtime.build(registry=ours.registry, acl=ours.acl, approval_handler=handler))
    first = call(agent, "groups.delete", {"name": "x"})
    assert (first.status_code, first.json()["code"]) == (202, "APPROVAL_PENDING")
    assert first.json()["details"]["approval_id"] == "ticket 7"
    again = call(agent, "groups.delete", {"name": "x"}, **{"Apcore-Approval-Token": "ticket 7"})
    assert (again.status_code, again.json()["result"]["deleted"]) == (200, 0)
    assert handler.checked == ["ticket 7"]


def test_a_caller_is_told_that_its_inputs_were_rewritten(agent: APIClient) -> None:
    runtime.get().executor.add_rewriter(lambda module_id, inputs, context: Rewrite.to({"name": "x"}, "only x"))
    rewrites = call(agent, "groups.find", {"name": "y"}).json()["rewrites"]
    assert [rewrite["reason"] for rewrite in rewrites] == ["only x"]


@pytest.mark.usefixtures("squads")
class TestPending:
    def test_is_202_with_what_will_be_shown_to_the_approver(self, agent: APIClient) -> None:
        response = call(agent, "groups.delete", {"name": "squad", "reference": "s3cret"})
        body = response.json()
        assert response.status_code == 202
        assert set(body) == {"code", "approval_id", "status_url", "expires_at", "preview"}
        assert body["code"] == "APPROVAL_PENDING"
        assert response["Location"] == body["status_url"]
        assert int(response["Retry-After"]) > 0
        assert agent.get(body["status_url"]).json()["status"] == "pending"

        preview = body["preview"]
        assert (preview["provenance"], preview["complete"], preview["total"]) == ("measured", True, 120)
        assert preview["counts"] == {"auth.Group:delete": 120}
        assert len(preview["changes"]) == 100
        assert preview["digest"] == ApprovalRequest.objects.get().effect_digest
        assert preview["changes"][0]["before"]["name"].startswith("squad")
        assert b"s3cret" not in response.content

    def test_nothing_has_happened(self, agent: APIClient) -> None:
        call(agent, "groups.delete", {"name": "squad"})
        assert Group.objects.filter(name__startswith="squad").count() == 120

    def test_a_caller_without_a_rule_opens_no_request(self, agent: APIClient) -> None:
        runtime.get().acl.replace([], "deny")
        assert call(agent, "groups.delete", {"name": "squad"}).status_code == 403
        assert not ApprovalRequest.objects.exists()


class TestResumed:
    @pytest.fixture
    def pending(self, agent: APIClient, squads: None, by_the_caller: ApprovalPolicy) -> Any:
        return call(agent, "groups.delete", {"name": "squad", "reference": "s3cret"})

    @pytest.fixture
    def token(self, pending: Any) -> str:
        return str(pending.json()["approval_id"])

    @pytest.fixture
    def approved(self, approver: APIClient, pending: Any) -> None:
        assert approve(approver, pending).status_code == 200

    INPUTS = {"name": "squad", "reference": "s3cret"}

    def again(self, client: APIClient, token: str, **headers: str) -> Any:
        return call(client, "groups.delete", self.INPUTS, **{"Apcore-Approval-Token": token}, **headers)

    def test_too_early_it_is_still_pending_and_no_second_request_is_opened(self, agent: APIClient, token: str) -> None:
        response = self.again(agent, token)
        assert (response.status_code, response.json()["approval_id"]) == (202, token)
        assert ApprovalRequest.objects.count() == 1

    @pytest.mark.usefixtures("approved")
    def test_the_result_comes_once(self, agent: APIClient, token: str) -> None:
        first = self.again(agent, token)
        assert (first.status_code, first.json()["result"]) == (200, {"deleted": 120, "reference": "s3cret"})
        assert not Group.objects.filter(name__startswith="squad").exists()
        request = ApprovalRequest.objects.get()
        assert (request.status, request.committed_digest) == ("consumed", request.effect_digest)

        second = self.again(agent, token)
        assert (second.status_code, second.json()["code"]) == (409, "APPROVAL_CONFLICT")
        assert second.json()["details"]["reason"] == "already_collected"

    @pytest.mark.usefixtures("approved")
    def test_the_same_key_gets_the_recorded_result_again(self, agent: APIClient, token: str) -> None:
        key = {"Idempotency-Key": "one"}
        results = [self.again(agent, token, **key).json()["result"] for _ in range(3)]
        assert results == [{"deleted": 120, "reference": "s3cret"}] * 3
        assert self.again(agent, token, **{"Idempotency-Key": "two"}).status_code == 409
        assert self.again(agent, token).status_code == 409

    @pytest.mark.usefixtures("approved")
    def test_a_worker_may_have_executed_it(self, agent: APIClient, token: str) -> None:
        services.execute_approved(token)
        assert self.again(agent, token).json()["result"]["deleted"] == 120
        assert self.again(agent, token).status_code == 409

    @pytest.mark.usefixtures("approved")
    def test_the_token_may_travel_in_the_inputs(self, agent: APIClient, token: str) -> None:
        response = call(agent, "groups.delete", {**self.INPUTS, "_approval_token": token})
        assert response.json()["result"]["deleted"] == 120

    @pytest.mark.usefixtures("squads", "by_the_caller")
    @pytest.mark.parametrize("inputs", [{"name": "squad"}, {"name": "squad", "reference": ""}])
    def test_defaults_may_be_left_out_or_written_out(
        self, agent: APIClient, approver: APIClient, inputs: dict[str, Any]
    ) -> None:
        pending = call(agent, "groups.delete", {"name": "squad"})
        approve(approver, pending)
        token = pending.json()["approval_id"]
        response = call(agent, "groups.delete", inputs, **{"Apcore-Approval-Token": token})
        assert response.json()["result"]["deleted"] == 120

    @pytest.mark.usefixtures("approved")
    def test_but_two_tokens_do_not(self, agent: APIClient, token: str) -> None:
        inputs = {**self.INPUTS, "_approval_token": str(uuid4())}
        refused = call(agent, "groups.delete", inputs, **{"Apcore-Approval-Token": token})
        assert refused.status_code == 400
        assert call(agent, "groups.delete", {**self.INPUTS, "_approval_token": 5}).status_code == 400

    @pytest.mark.usefixtures("approved")
    @pytest.mark.parametrize(
        ("module_id", "inputs"),
        [
            ("groups.delete", {"name": "squa", "reference": "s3cret"}),
            ("groups.delete", {"name": "squad"}),
            ("groups.find", {"name": "squad"}),
        ],
    )
    def test_another_call_is_refused_and_audited(
        self, agent: APIClient, token: str, module_id: str, inputs: dict[str, Any]
    ) -> None:
        response = call(agent, module_id, inputs, **{"Apcore-Approval-Token": token})
        assert (response.status_code, response.json()["code"]) == (403, "APPROVAL_FORBIDDEN")
        assert response.json()["details"]["reason"] == "binding_mismatch"
        assert AuditEntry.objects.filter(subject=f"approval:{token}").order_by("-sequence").first().data
        assert Group.objects.filter(name__startswith="squad").count() == 120

    @pytest.mark.usefixtures("approved")
    def test_another_caller_is_refused_and_audited(self, stranger: APIClient, token: str) -> None:
        before = AuditEntry.objects.count()
        response = self.again(stranger, token)
        assert (response.status_code, response.json()["code"]) == (403, "APPROVAL_FORBIDDEN")
        assert AuditEntry.objects.count() == before + 1

    @pytest.mark.parametrize(
        "unknown", ["7d6f4e30-8a0c-4a77-9c5e-0d6b3f8e5a11", "nonsense", "'; DROP TABLE", "x" * 5000]
    )
    def test_an_unknown_token_opens_nothing(self, agent: APIClient, unknown: str) -> None:
        response = self.again(agent, unknown)
        assert (response.status_code, response.json()["code"]) == (404, "APPROVAL_NOT_FOUND")

    def test_a_rejected_call_says_why(self, agent: APIClient, approver: APIClient, token: str) -> None:
        approver.post(url(f"approvals/{token}/reject/"), {"reason": "not on a Friday"}, format="json")
        response = self.again(agent, token)
        assert (response.status_code, response.json()["code"]) == (403, "APPROVAL_DENIED")
        assert "not on a Friday" in response.json()["message"]

    @pytest.mark.usefixtures("approved")
    def test_where_the_world_has_moved_a_new_request_waits(self, agent: APIClient, token: str) -> None:
        Group.objects.create(name="squad of late")
        response = self.again(agent, token)
        body = response.json()
        assert response.status_code == 202
        assert body["approval_id"] != token
        assert body["supersedes"] == token
        assert body["preview"]["total"] == 121
        assert Group.objects.filter(name__startswith="squad").count() == 121


class TestValidate:
    def check(self, client: APIClient, module_id: str, inputs: dict[str, Any]) -> Any:
        return client.post(url(f"modules/{module_id}/validate/"), {"inputs": inputs}, format="json")

    @pytest.mark.usefixtures("squads")
    def test_predicts_and_changes_nothing(self, agent: APIClient) -> None:
        response = self.check(agent, "groups.delete", {"name": "squad"})
        body = response.json()
        assert (response.status_code, body["valid"], body["requires_approval"]) == (200, True, True)
        assert len(body["predicted_changes"]) == 100
        assert body["effect"]["total"] == 120
        assert Group.objects.filter(name__startswith="squad").count() == 120
        assert not ApprovalRequest.objects.exists()

    def test_collects_what_is_wrong(self, agent: APIClient) -> None:
        response = self.check(agent, "groups.forbidden", {"x": 1})
        failed = [check["check"] for check in response.json()["checks"] if not check["passed"]]
        assert (response.status_code, failed) == (200, ["acl", "schema"])
        assert response.json()["predicted_changes"] == []

    def test_knows_no_unknown_module(self, agent: APIClient) -> None:
        assert self.check(agent, "groups.nothing", {}).status_code == 404


class TestSubmit:
    def submit(self, client: APIClient, module_id: str, inputs: dict[str, Any], **headers: str) -> Any:
        return client.post(url(f"modules/{module_id}/submit/"), {"inputs": inputs}, format="json", headers=headers)

    def test_says_where_to_look(self, agent: APIClient) -> None:
        response = self.submit(agent, "groups.find", {"name": ""})
        body = response.json()
        assert (response.status_code, body["status"]) == (202, "pending")
        assert response["Location"] == body["status_url"]
        assert agent.get(body["status_url"]).json()["id"] == body["task_id"]

    @pytest.mark.parametrize(
        ("module_id", "inputs", "status"),
        [("groups.nothing", {}, 404), ("groups.forbidden", {}, 403), ("groups.find", {"name": 1}, 400)],
    )
    def test_refuses_at_once_what_is_hopeless(
        self, agent: APIClient, module_id: str, inputs: dict[str, Any], status: int
    ) -> None:
        assert self.submit(agent, module_id, inputs).status_code == status
        assert not AsyncTask.objects.exists()

    def test_takes_no_token(self, agent: APIClient) -> None:
        response = self.submit(agent, "groups.find", {"name": ""}, **{"Apcore-Approval-Token": str(uuid4())})
        assert response.status_code == 400


def test_a_policy_may_want_a_person(agent: APIClient) -> None:
    ApprovalPolicy.objects.create(name="people", pattern="groups.*", human_initiated=True)
    response = call(agent, "groups.delete", {"name": "x"})
    assert (response.status_code, response.json()["code"]) == (403, "APPROVAL_FORBIDDEN")
