"""Reading and deciding approval requests."""

from typing import Any

import pytest
from django.contrib.auth.models import Group
from rest_framework.test import APIClient

from django_apcore.models import ApprovalDecision, ApprovalRequest
from tests.django_apcore.api.conftest import account, call, client_of, url

# A call enrols every database, and a measurement isolates itself, which needs a transaction of its own.
pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")


@pytest.fixture(autouse=True)
def squads() -> None:
    Group.objects.bulk_create(Group(name=f"squad {number}") for number in range(7))


@pytest.fixture
def pending(agent: APIClient) -> dict[str, Any]:
    body: dict[str, Any] = call(agent, "groups.delete", {"name": "squad", "reference": "s3cret"}).json()
    return body


def post(client: APIClient, pending: dict[str, Any], verb: str, body: object) -> Any:
    return client.post(url(f"approvals/{pending['approval_id']}/{verb}/"), body, format="json")


def approval_of(pending: dict[str, Any]) -> dict[str, Any]:
    return {"seen_digest": pending["preview"]["digest"], "confirmed": True, "reason": "agreed"}


class TestReading:
    def test_the_requester_sees_its_own(self, agent: APIClient, stranger: APIClient, pending: dict[str, Any]) -> None:
        call(stranger, "groups.delete", {"name": "squad"})
        mine = agent.get(url("approvals/")).json()
        assert [each["id"] for each in mine["results"]] == [pending["approval_id"]]
        assert agent.get(pending["status_url"]).status_code == 200

    def test_others_do_not(self, stranger: APIClient, pending: dict[str, Any]) -> None:
        assert stranger.get(url("approvals/")).json()["results"] == []
        for path in ("", "changes/"):
            response = stranger.get(pending["status_url"] + path)
            assert (response.status_code, response.json()["code"]) == (404, "REQUEST_NOT_FOUND")

    def test_who_may_view_or_decide_sees_all(
        self, viewer: APIClient, agent: APIClient, stranger: APIClient, pending: dict[str, Any]
    ) -> None:
        call(stranger, "groups.delete", {"name": "squad"})
        decider = client_of(account("decider", "decide_approvalrequest"))
        for client in (viewer, decider):
            assert client.get(url("approvals/")).json()["count"] == 2
            assert client.get(pending["status_url"]).status_code == 200

    def test_it_says_what_is_asked_and_hides_what_is_secret(self, viewer: APIClient, pending: dict[str, Any]) -> None:
        response = viewer.get(pending["status_url"])
        body = response.json()
        assert body["module_id"] == "groups.delete"
        assert body["call_chain"] == ["groups.delete"]
        assert body["identity"]["username"] == "agent"
        assert body["inputs"] == {"name": "squad", "reference": "***REDACTED***"}
        assert body["original_inputs"] is None
        assert body["preview"] == pending["preview"]
        assert body["decisions"] == []
        assert b"s3cret" not in response.content

    def test_the_list_can_be_filtered(self, agent: APIClient, pending: dict[str, Any]) -> None:
        def count(query: str) -> int:
            return int(agent.get(url(f"approvals/?{query}")).json()["count"])

        assert count("status=pending") == 1
        assert count("status=consumed") == 0
        assert count("module_id=groups.delete") == 1
        assert count("module_id=groups.add") == 0
        assert agent.get(url("approvals/?status=perhaps")).status_code == 400

    def test_the_list_costs_the_same_for_many(
        self, agent: APIClient, viewer: APIClient, django_assert_num_queries: Any, django_assert_max_num_queries: Any
    ) -> None:
        for _ in range(6):
            call(agent, "groups.delete", {"name": "squad"})
        with django_assert_max_num_queries(10):
            assert viewer.get(url("approvals/")).json()["count"] == 6

    def test_changes_come_in_pages(self, agent: APIClient, pending: dict[str, Any]) -> None:
        page = agent.get(pending["status_url"] + "changes/?page_size=4").json()
        assert (page["count"], len(page["results"])) == (7, 4)
        assert page["results"] == pending["preview"]["changes"][:4]
        assert len(agent.get(page["next"]).json()["results"]) == 3

    def test_sensitive_names_are_hidden_in_changes_too(self, agent: APIClient, pending: dict[str, Any]) -> None:
        request = ApprovalRequest.objects.get()
        request.changes.update(extras={"x-api": {"api_key": "k3y"}, "x-kind": "auth.Group"}, after={"$redacted": "ab"})
        response = agent.get(pending["status_url"])
        assert b"k3y" not in response.content
        assert response.json()["preview"]["changes"][0]["after"] == "***REDACTED***"


class TestApproving:
    def test_takes_effect_and_is_recorded(self, approver: APIClient, pending: dict[str, Any]) -> None:
        response = post(approver, pending, "approve", approval_of(pending))
        assert (response.status_code, response.json()["status"]) == (200, "approved")
        decision = ApprovalDecision.objects.get()
        assert (decision.channel, decision.verdict, decision.reason) == ("api", "approve", "agreed")
        assert response.json()["decisions"][0]["decided_by"] == "approver"

    def test_a_second_time_is_told_who_was_first(self, approver: APIClient, pending: dict[str, Any]) -> None:
        post(approver, pending, "approve", approval_of(pending))
        other = client_of(account("other", "decide_approvalrequest"))
        response = post(other, pending, "approve", approval_of(pending))
        assert (response.status_code, response.json()["details"]["reason"]) == (409, "already_decided")

    def test_what_was_not_seen_is_not_approved(self, approver: APIClient, pending: dict[str, Any]) -> None:
        response = post(approver, pending, "approve", {"seen_digest": "0" * 64, "confirmed": True})
        assert (response.status_code, response.json()["details"]["reason"]) == (409, "effect_changed")

    @pytest.mark.parametrize("confirmed", [{}, {"confirmed": False}])
    def test_a_destructive_effect_has_to_be_confirmed(
        self, approver: APIClient, pending: dict[str, Any], confirmed: dict[str, Any]
    ) -> None:
        response = post(approver, pending, "approve", {"seen_digest": pending["preview"]["digest"], **confirmed})
        assert (response.status_code, response.json()["details"]["reason"]) == (409, "confirmation_required")

    def test_nobody_approves_their_own(self, pending: dict[str, Any]) -> None:
        both = client_of(account("both", "decide_approvalrequest"))
        own = call(both, "groups.delete", {"name": "squad"}).json()
        response = post(both, own, "approve", approval_of(own))
        assert (response.status_code, response.json()["details"]["reason"]) == (403, "own_request")

    def test_the_requester_and_a_viewer_may_not(
        self, agent: APIClient, viewer: APIClient, pending: dict[str, Any]
    ) -> None:
        for client in (agent, viewer):
            response = post(client, pending, "approve", approval_of(pending))
            assert (response.status_code, response.json()["code"]) == (403, "APPROVAL_FORBIDDEN")

    def test_who_may_not_see_it_is_told_that_nothing_is_there(
        self, stranger: APIClient, pending: dict[str, Any]
    ) -> None:
        for verb in ("approve", "reject", "cancel", "remeasure"):
            assert post(stranger, pending, verb, {}).status_code == 404

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"seen_digest": None},
            {"seen_digest": "abc"},
            {"seen_digest": "0" * 64, "confirmed": "yes"},
            {"seen_digest": "0" * 64, "confirmed": 1},
            {"seen_digest": "0" * 64, "actor": 1},
            {"seen_digest": "0" * 64, "channel": "admin"},
            {"seen_digest": "0" * 64, "reason": "x" * 10_001},
            [],
        ],
    )
    def test_only_what_is_meant_is_understood(self, approver: APIClient, pending: dict[str, Any], body: object) -> None:
        assert post(approver, pending, "approve", body).status_code == 400
        assert ApprovalRequest.objects.get().status == "pending"


class TestOtherVerbs:
    def test_rejecting_needs_a_reason(self, approver: APIClient, pending: dict[str, Any]) -> None:
        assert post(approver, pending, "reject", {}).status_code == 400
        assert post(approver, pending, "reject", {"reason": ""}).status_code == 400
        response = post(approver, pending, "reject", {"reason": "no"})
        assert (response.status_code, response.json()["status"]) == (200, "rejected")

    def test_the_requester_cancels(self, agent: APIClient, pending: dict[str, Any]) -> None:
        response = post(agent, pending, "cancel", {"reason": "not needed any more"})
        assert (response.status_code, response.json()["status"]) == (200, "cancelled")
        assert post(agent, pending, "cancel", {}).status_code == 409

    def test_a_viewer_does_not(self, viewer: APIClient, pending: dict[str, Any]) -> None:
        assert post(viewer, pending, "cancel", {}).status_code == 403

    def test_no_body_is_fine_where_nothing_is_needed(self, agent: APIClient, pending: dict[str, Any]) -> None:
        assert agent.post(url(f"approvals/{pending['approval_id']}/cancel/")).status_code == 200

    def test_measuring_again_shows_the_world_as_it_is(self, approver: APIClient, pending: dict[str, Any]) -> None:
        Group.objects.create(name="squad of late")
        body = post(approver, pending, "remeasure", {}).json()
        assert body["preview"]["total"] == 8
        assert body["preview"]["digest"] != pending["preview"]["digest"]
        stale = post(approver, pending, "approve", approval_of(pending))
        assert stale.json()["details"]["reason"] == "effect_changed"
