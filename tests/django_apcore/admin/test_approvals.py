"""The queue, and what the buttons do."""

from collections.abc import Callable
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from django_apcore import services
from django_apcore.admin.approval_page import page_url
from django_apcore.models import ApprovalDecision, ApprovalPolicy, ApprovalRequest
from tests.django_apcore.admin.factories import DIGEST, approval, approver, change, updates

pytestmark = pytest.mark.django_db
QUEUE = "/admin/django_apcore/approvalrequest/"
Status = ApprovalRequest.Status


def post(client: Client, request: ApprovalRequest, verb: str, **data: Any) -> Any:
    known = {"seen_digest": request.effect_digest} if verb in ("approve", "reject") else {}
    return client.post(f"{QUEUE}{request.pk}/{verb}/", {**known, **data})


def status_of(request: ApprovalRequest) -> str:
    return ApprovalRequest.objects.values_list("status", flat=True).get(pk=request.pk)


def said(response: HttpResponse) -> str:
    return response.content.decode()


# -- the queue --------------------------------------------------------------------------------------------------------


def test_the_queue_says_what_waits_and_how_large_it_is(ada_client: Client) -> None:
    approval([change("delete", 1), *updates(1_297)], identity_id="erp")
    approval(provenance="none", effect_complete=False)
    approval(updates(2), effect_complete=False)

    html = ada_client.get(QUEUE).content.decode()

    assert "Approval queue" in html
    assert html.count("waiting") >= 3
    assert "erp" in html
    assert '−1<span class="visually-hidden"> deleted' in html
    assert '~1,297<span class="visually-hidden"> changed' in html
    assert "cannot be previewed" in html
    assert "incomplete" in html
    assert "in 23 hours" in html


def test_the_queue_costs_the_same_queries_however_long_it_is(ada_client: Client, victor: User) -> None:
    approval(updates(1), requested_by=victor)
    ada_client.get(QUEUE)

    with CaptureQueriesContext(connection) as few:
        ada_client.get(QUEUE)
    for _ in range(40):
        approval(updates(1), requested_by=victor)
    with CaptureQueriesContext(connection) as many:
        ada_client.get(QUEUE)

    assert len(many) == len(few)


def listed(client: Client, query: str = "") -> set[str]:
    return {str(row.pk) for row in client.get(QUEUE + query).context["cl"].result_list}


def test_the_queue_opens_on_what_can_be_decided(ada_client: Client) -> None:
    waiting = approval()
    past = approval(expires_at=timezone.now() - timedelta(hours=1))
    rejected = approval(status="rejected")

    assert listed(ada_client) == {str(waiting.pk)}
    assert listed(ada_client, "?status=all") == {str(waiting.pk), str(past.pk), str(rejected.pk)}
    assert listed(ada_client, "?status=expired") == {str(past.pk)}
    assert listed(ada_client, "?status=rejected") == {str(rejected.pk)}


@pytest.mark.parametrize("query", ["?status=%00", "?status=nonsense", "?q=%00", "?p=x", "?nonsense=1"])
def test_addresses_that_were_typed_by_hand_are_harmless(ada_client: Client, query: str) -> None:
    approval()

    assert ada_client.get(QUEUE + query).status_code in (200, 302)


@pytest.mark.parametrize("term", ["reprice", "41", "victor", "0af7651916cd43dd8448eb211c80319c"])
def test_the_queue_is_searched_by_module_requester_and_trace(ada_client: Client, victor: User, term: str) -> None:
    found = approval(requested_by=victor)
    approval(module_id="store.customers.erase", identity_id="77", trace_id="f" * 32)

    assert listed(ada_client, f"?q={term}") == {str(found.pk)}


def test_the_queue_is_searched_by_id(ada_client: Client) -> None:
    found = approval()
    approval()

    assert listed(ada_client, f"?q={found.pk}") == {str(found.pk)}


@pytest.mark.parametrize("query", ["?module_id=store.customers.erase", "?provenance=none", "?effect_complete__exact=0"])
def test_the_queue_is_filtered(ada_client: Client, query: str) -> None:
    found = approval(module_id="store.customers.erase", provenance="none", effect_complete=False)
    approval()

    assert listed(ada_client, query) == {str(found.pk)}


def test_the_filter_uses_the_words_of_the_page(ada_client: Client) -> None:
    queue = ada_client.get(QUEUE).content.decode()

    assert '?status=consumed">executed</a>' in queue.replace("\n", "").replace("  ", "")


def test_nobody_adds_changes_or_deletes_requests_here(admin_client: Client) -> None:
    request = approval()

    assert admin_client.get(f"{QUEUE}add/").status_code == 403
    assert admin_client.post(page_url(request), {"status": "approved"}).status_code == 200
    assert status_of(request) == "pending"
    assert admin_client.post(f"{QUEUE}{request.pk}/delete/", {"post": "yes"}).status_code == 403
    assert "action-select" not in admin_client.get(QUEUE).content.decode()


# -- deciding ---------------------------------------------------------------------------------------------------------


def test_approving_is_recorded_with_the_reason_and_the_digest(ada_client: Client, ada: User) -> None:
    request = approval(updates(1))

    response = post(ada_client, request, "approve", reason="Agreed.")

    assert (response.status_code, response.headers["Location"]) == (302, page_url(request))
    assert "Approved. A worker runs it now." in said(ada_client.get(page_url(request)))
    decision = ApprovalDecision.objects.get(request=request)
    assert (decision.verdict, decision.decided_by, decision.reason) == ("approve", ada, "Agreed.")
    assert (decision.effect_digest, decision.channel) == (DIGEST, "admin")


def test_rejecting_needs_a_reason(ada_client: Client) -> None:
    request = approval(updates(1))

    response = post(ada_client, request, "reject", reason="  ")

    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert "A rejection needs a reason." in said(response)
    assert status_of(request) == "pending"


def test_rejecting_with_a_reason(ada_client: Client) -> None:
    request = approval(updates(1))

    assert post(ada_client, request, "reject", reason="Too much.").status_code == 302
    assert status_of(request) == "rejected"


@pytest.mark.parametrize(
    "effect",
    [
        {"changes": [change("delete", 1)]},
        {"provenance": "none", "effect_complete": False},
    ],
)
def test_what_deletes_or_cannot_be_previewed_has_to_be_confirmed(ada_client: Client, effect: dict[str, Any]) -> None:
    request = approval(**effect)

    refused = post(ada_client, request, "approve", reason="kept while I tick the box")

    assert refused.status_code == HTTPStatus.CONFLICT
    assert "Confirm that you have understood what this does." in said(refused)
    assert "kept while I tick the box" in said(refused)
    assert status_of(request) == "pending"
    assert post(ada_client, request, "approve", confirmed="on").status_code == 302


def test_a_reject_needs_no_confirmation(ada_client: Client) -> None:
    assert post(ada_client, approval([change("delete", 1)]), "reject", reason="No.").status_code == 302


def test_gaps_cannot_be_approved_by_posting_past_the_page(ada_client: Client) -> None:
    request = approval(updates(1), effect_complete=False, effect_gaps=["raw SQL"])

    response = post(ada_client, request, "approve", confirmed="on")

    assert response.status_code == HTTPStatus.CONFLICT
    assert status_of(request) == "pending"


def test_a_double_click_is_told_that_it_was_done_once(ada_client: Client) -> None:
    request = approval(updates(1))
    post(ada_client, request, "approve")

    second = post(ada_client, request, "approve")

    assert second.status_code == HTTPStatus.CONFLICT
    assert "You have already approved this." in said(second)
    assert "It was not done twice." in said(second)
    assert ApprovalDecision.objects.filter(request=request).count() == 1


def test_a_second_approver_reads_what_the_first_decided(ada_client: Client, client: Client) -> None:
    request = approval(updates(1))
    client.force_login(approver("bert"))
    post(client, request, "reject", reason="No.")

    late = post(ada_client, request, "approve")

    assert late.status_code == HTTPStatus.CONFLICT
    assert "bert rejected this request" in said(late)
    assert status_of(request) == "rejected"


def test_an_expired_request_is_not_decided(ada_client: Client) -> None:
    request = approval(updates(1), expires_at=timezone.now() - timedelta(seconds=1))

    response = post(ada_client, request, "approve")

    assert response.status_code == HTTPStatus.CONFLICT
    assert "The time for this request is over." in said(response)
    assert status_of(request) == "expired"


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_a_page_from_before_the_last_measurement_decides_nothing(ada_client: Client, verb: str) -> None:
    request = approval(updates(1))
    ApprovalRequest.objects.filter(pk=request.pk).update(effect_digest="e" * 64)
    services.append("approval.remeasured", subject=request.subject, data={"before": request.effect_digest})

    response = post(ada_client, request, verb, reason="I saw the old one.")

    assert response.status_code == HTTPStatus.CONFLICT
    assert "no longer the one you saw" in said(response)
    assert f'value="{"e" * 64}"' in said(response)
    assert status_of(request) == "pending"


def test_a_form_without_the_digest_decides_nothing(ada_client: Client) -> None:
    request = approval(updates(1))

    response = ada_client.post(f"{QUEUE}{request.pk}/approve/", {})

    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert status_of(request) == "pending"


@pytest.mark.parametrize("data", [{"reason": "\x00"}, {"reason": "x" * 6_000}, {"seen_digest": "x" * 500}])
def test_nonsense_in_the_form_is_a_bad_request(ada_client: Client, data: dict[str, str]) -> None:
    assert post(ada_client, approval(updates(1)), "approve", **data).status_code == HTTPStatus.BAD_REQUEST


@pytest.mark.parametrize("verb", ["approve", "reject", "remeasure", "cancel"])
def test_opening_a_link_decides_nothing(ada_client: Client, verb: str) -> None:
    request = approval(updates(1))

    response = ada_client.get(f"{QUEUE}{request.pk}/{verb}/")

    assert response.status_code == HTTPStatus.METHOD_NOT_ALLOWED
    assert response.headers["Allow"] == "POST"
    assert status_of(request) == "pending"


@pytest.mark.parametrize("verb", ["approve", "reject", "remeasure", "cancel"])
def test_view_only_staff_is_forbidden(victor_client: Client, verb: str) -> None:
    request = approval(updates(1))

    response = post(victor_client, request, verb, reason="Let me.")

    assert response.status_code == HTTPStatus.FORBIDDEN
    assert "You may not decide on approval requests." in said(response)
    assert status_of(request) == "pending"


@pytest.mark.parametrize("verb", ["approve", "reject", "remeasure", "cancel"])
def test_who_may_not_view_may_not_post(stranger_client: Client, verb: str) -> None:
    request = approval(updates(1))

    assert post(stranger_client, request, verb).status_code == HTTPStatus.FORBIDDEN
    assert stranger_client.get(f"{QUEUE}{request.pk}/state/").status_code == HTTPStatus.FORBIDDEN
    assert status_of(request) == "pending"


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_nobody_decides_on_their_own_request(ada_client: Client, ada: User, verb: str) -> None:
    request = approval(updates(1), requested_by=ada)

    response = post(ada_client, request, verb, reason="Trust me.")

    assert response.status_code == HTTPStatus.FORBIDDEN
    assert "You asked for this yourself" in said(response)
    assert status_of(request) == "pending"


def test_a_post_without_csrf_token_is_refused(ada: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)
    request = approval(updates(1))

    assert post(client, request, "approve").status_code == HTTPStatus.FORBIDDEN
    assert status_of(request) == "pending"


def test_an_unknown_request_is_not_found(ada_client: Client) -> None:
    assert ada_client.post(f"{QUEUE}00000000-0000-4000-8000-000000000000/approve/").status_code == 404


def test_what_the_caller_has_to_run_is_announced_as_that(ada_client: Client) -> None:
    ApprovalPolicy.objects.create(name="Later", execute_on_approval=False)
    request = approval(updates(1))

    post(ada_client, request, "approve")

    assert "Approved. The caller may run it now." in said(ada_client.get(page_url(request)))


# -- cancelling and measuring again -----------------------------------------------------------------------------------


def test_a_requester_cancels(ada_client: Client, ada: User) -> None:
    request = approval(updates(1), requested_by=ada)

    assert post(ada_client, request, "cancel", reason="Not needed any more").status_code == 302
    assert status_of(request) == "cancelled"


def test_what_was_executed_cannot_be_cancelled(ada_client: Client) -> None:
    response = post(ada_client, approval(updates(1), status="consumed"), "cancel")

    assert response.status_code == HTTPStatus.CONFLICT
    assert "It is too late" in said(response)


def test_measuring_again_says_whether_the_effect_changed(ada_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    request = approval(updates(1))

    def remeasured(digest: str) -> Callable[..., ApprovalRequest]:
        def remeasure(request_id: Any, *, actor: User) -> ApprovalRequest:
            ApprovalRequest.objects.filter(pk=request_id).update(effect_digest=digest)
            return ApprovalRequest.objects.get(pk=request_id)

        return remeasure

    for digest, answer in ((DIGEST, "the effect is still the same"), ("e" * 64, "the effect has changed")):
        monkeypatch.setattr(services, "remeasure", remeasured(digest))
        post(ada_client, request, "remeasure")
        assert answer in said(ada_client.get(page_url(request)))


def test_what_cannot_be_measured_again_is_no_server_error(ada_client: Client) -> None:
    response = post(ada_client, approval(updates(1), module_id="store.gone.away"), "remeasure")

    assert HTTPStatus.BAD_REQUEST <= response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR


# -- an open page looks for news --------------------------------------------------------------------------------------


def test_the_state_changes_with_status_effect_and_time(ada_client: Client) -> None:
    request = approval(updates(1))
    address = f"{QUEUE}{request.pk}/state/"
    states = [ada_client.get(address).json()["state"]]
    assert states[0] in said(ada_client.get(page_url(request)))

    for news in ({"effect_digest": "e" * 64}, {"expires_at": timezone.now()}, {"status": "rejected"}):
        ApprovalRequest.objects.filter(pk=request.pk).update(**news)
        states.append(ada_client.get(address).json()["state"])

    assert len(set(states)) == len(states)
