"""The request page: what it says, to whom, and how little it reads for that."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.db.models.signals import post_init
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from django_apcore import services
from django_apcore.admin import approval_queries
from django_apcore.admin.approval_page import page_url
from django_apcore.models import ApprovalDecision, ApprovalPolicy, ApprovalRequest, EffectChange
from tests.django_apcore.admin.factories import DIGEST, approval, change, updates

pytestmark = pytest.mark.django_db
SCRIPT = "<script>alert(1)</script>"


def page(client: Client, request: ApprovalRequest, query: str = "", status: int = 200) -> str:
    response = client.get(page_url(request) + query)
    assert response.status_code == status
    return response.content.decode()


def words(html: str) -> str:
    """The page as it is read: no tags, single spaces."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


# -- what it says -----------------------------------------------------------------------------------------------------


def test_a_measured_effect_is_told_in_words(ada_client: Client) -> None:
    request = approval(
        [change("delete", 1, before={"id": 1}), *updates(2), change("insert", 9, after={"id": 9})],
        effect_unwatched=["already_open", "threads", "network:search.example:9200"],
    )

    text = words(page(ada_client, request))

    assert "What happens if you approve" in text
    assert "− 1 row deleted ~ 2 rows changed + 1 row inserted" in text
    assert "If you approve, a worker runs this at once, with exactly these inputs." in text
    assert "If you approve, a worker runs this at once" in text
    assert "nothing is committed, and a new request asks again" in text
    assert (
        "Measured. Less than a minute ago the module&#x27;s own code ran on the real data and was rolled back." in text
    )
    assert "Complete. The database&#x27;s own row counters agree" in text
    assert (
        "Not watched. Connections and files that were open before, threads and tasks that libraries start "
        "and connections to search.example:9200. "
        "If the module uses them, you do not see it" in text
    )


def test_without_a_preview_it_says_so_and_how_to_undo(ada_client: Client) -> None:
    request = approval(
        provenance="none", effect_complete=False, compensation="Pay back.", annotations={"idempotent": True}
    )

    text = words(page(ada_client, request))

    assert "This action cannot be previewed." in text
    assert "How to undo it, in the words of the module. Pay back." in text
    assert "Running it twice, it says, has the same effect as running it once." in text
    assert "I know that nobody can show beforehand what this does." in text
    assert "nothing is committed" not in text


def test_without_a_preview_and_a_way_back_it_says_that_too(ada_client: Client) -> None:
    text = words(page(ada_client, approval(provenance="none", effect_complete=False)))

    assert "No way back is known." in text


def test_a_claim_of_the_module_is_labelled_as_one(ada_client: Client) -> None:
    text = words(page(ada_client, approval(updates(1), provenance="declared")))

    assert "Declared, not measured. This is what the module says it will do." in text
    assert "row counters" not in text
    assert "If the module then says something else, it does not run" in text


def test_a_plan_is_labelled_as_one(ada_client: Client) -> None:
    text = words(page(ada_client, approval(updates(1), provenance="planned")))

    assert "Planned. The module computed this plan" in text
    assert "row counters" not in text


def test_gaps_are_named_and_forbid_approving(ada_client: Client) -> None:
    html = page(ada_client, approval(updates(1), effect_complete=False, effect_gaps=["a trigger wrote 3 rows"]))

    assert "Incomplete." in words(html)
    assert "a trigger wrote 3 rows" in html
    assert "It cannot be approved while its effect is incomplete." in html
    assert 'data-verdict="approve"' not in html
    assert 'data-verdict="reject"' in html


def test_a_policy_may_allow_gaps_if_they_are_confirmed(ada_client: Client) -> None:
    ApprovalPolicy.objects.create(name="Lenient", pattern="store.*", allow_incomplete=True)

    html = page(ada_client, approval(updates(1), effect_complete=False, effect_gaps=["a trigger"]))

    assert 'data-verdict="approve"' in html
    assert "I understand: part of the effect is not known." in html
    assert "Lenient" in html


def test_a_policy_may_leave_the_execution_to_the_caller(ada_client: Client) -> None:
    ApprovalPolicy.objects.create(name="Later", execute_on_approval=False)

    assert "the caller may run this once, until" in page(ada_client, approval(updates(1)))


def test_deleting_asks_for_a_confirmation_and_changing_does_not(ada_client: Client) -> None:
    assert "I understand: 2 rows will be deleted." in page(
        ada_client, approval([change("delete", pk, before={"id": pk}) for pk in (1, 2)])
    )
    assert "I understand" not in page(ada_client, approval(updates(1)))


def test_who_asks_through_which_modules(ada_client: Client, victor: User) -> None:
    request = approval(
        updates(1),
        call_chain=["store.campaigns.summer", "store.catalogue.reprice"],
        identity_roles=["store-agents"],
        requested_by=victor,
    )

    text = words(page(ada_client, request))

    assert "victor, a service " in text
    assert "store-agents" in text
    assert "from outside → store.campaigns.summer → store.catalogue.reprice" in text
    assert request.trace_id in text


def test_a_person_who_is_known_by_a_token_only_may_be_a_program(ada_client: Client, victor: User) -> None:
    identity = {"id": "41", "type": "user", "attrs": {"via": "token"}}
    request = approval(
        updates(1), requested_by=victor, identity_type="user", context_json={"trace_id": "", "identity": identity}
    )

    assert "victor, a person, through a token" in words(page(ada_client, request))


def test_rewritten_inputs_show_what_the_caller_sent(ada_client: Client) -> None:
    note = {"module_id": "store.catalogue.reprice", "rewriter": "policies.cap", "reason": "never more than 5"}
    other = {"module_id": "store.other", "rewriter": "policies.other", "reason": "not about this call"}
    request = approval(
        updates(1),
        original_inputs_redacted={"genre": "rock", "percent": 10},
        context_json={"data": {"apcore.input_rewrite": [other, note]}},
    )

    text = words(page(ada_client, request))

    assert "Rewritten before the check" in text
    assert "Changed by policies.cap : never more than 5" in text
    assert "policies.other" not in text
    assert "before: rock → after: Rock" in text


def test_nothing_that_is_encrypted_is_read(ada_client: Client) -> None:
    request = approval(updates(1), inputs_encrypted="ciphertext", result_encrypted="ciphertext")

    with CaptureQueriesContext(connection) as queries:
        html = page(ada_client, request)

    assert "ciphertext" not in html
    assert not any("inputs_encrypted" in query["sql"] for query in queries)


# -- the diff ---------------------------------------------------------------------------------------------------------


def test_kinds_of_change_are_distinct_without_colour(ada_client: Client) -> None:
    request = approval(
        [
            change("delete", 1, before={"name": "old"}),
            change("update", 2, before={"name": "a"}, after={"name": "b"}),
            change("insert", 3, after={"id": {"$known_after_apply": "id"}, "name": "new"}),
            change("send", 0, "mail", target="mail:a@example.com", label="", summary="Mail about summer"),
            change("enqueue", 0, "task", target="task:store.tidy", label="", summary="store.tidy()"),
            change("run", 0, "on_commit", target="on_commit:store.hook", label="", summary="store.hook"),
        ]
    )

    text = words(page(ada_client, request))

    for words_of_row in (
        "− deleted Track number 1 store.Track:1 name old",
        "~ changed Track number 2 store.Track:2 name before: a → after: b",
        "+ inserted Track number 3 store.Track:3 id assigned by the database name new",
        "↗ sent a@example.com mail:a@example.com Mail about summer",
        "» queued store.tidy task:store.tidy store.tidy()",
        "▸ run after commit store.hook on_commit:store.hook store.hook",
    ):
        assert words_of_row in text


def test_long_values_are_folded(ada_client: Client) -> None:
    html = page(ada_client, approval([change("insert", 1, after={"body": "long " * 500})]))

    assert "<details" in html
    assert "2500 characters" in html


def test_models_that_lose_rows_come_first_and_deletions_first_of_all(ada_client: Client) -> None:
    request = approval(
        [
            *updates(2, "store.Album"),
            *updates(1, "store.Track"),
            change("insert", 8, "store.Track", after={"id": 8}),
            change("delete", 7, "store.Track", before={"id": 7}),
        ]
    )

    targets = re.findall(r"<code>(store\.\w+:\d+)</code>", page(ada_client, request))

    assert targets == ["store.Track:7", "store.Track:1", "store.Track:8", "store.Album:1", "store.Album:2"]


def test_pages_and_filters(ada_client: Client) -> None:
    request = approval([*updates(120), change("delete", 7, "store.Album", before={"id": 7})])

    first, last = page(ada_client, request), page(ada_client, request, "?p=3")
    deleted = page(ada_client, request, "?kind=store.Album&action=delete")

    assert first.count('scope="row"') == 50
    assert last.count('scope="row"') == 21
    assert "101 to 121 of 121" in last
    assert deleted.count('scope="row"') == 1
    assert "Albums deleted" in words(deleted)


@pytest.mark.parametrize(
    "query", ["?p=0", "?p=x", "?p=999", "?kind=&action=", "?kind=%00&action=%00", "?action=delete"]
)
def test_addresses_that_were_typed_by_hand_are_harmless(ada_client: Client, query: str) -> None:
    page(ada_client, approval(updates(120)), query)


def test_ten_thousand_changes_cost_the_queries_and_the_rows_of_fifty(ada_client: Client) -> None:
    small, large = approval(updates(60)), approval(updates(10_000))
    loaded: list[EffectChange] = []

    def count(instance: EffectChange, **kwargs: Any) -> None:
        loaded.append(instance)

    with CaptureQueriesContext(connection) as few:
        page(ada_client, small)
    post_init.connect(count, sender=EffectChange)
    try:
        with CaptureQueriesContext(connection) as many:
            html = page(ada_client, large)
    finally:
        post_init.disconnect(count, sender=EffectChange)

    assert len(many) == len(few) <= 15
    assert len(loaded) == approval_queries.CHANGES_PER_PAGE
    assert "10,000" in html
    assert len(html) < 250_000


def test_changes_beyond_the_list_are_announced(ada_client: Client) -> None:
    request = approval(updates(3), effect_total=12_345, effect_counts={"store.Track:update": 12_345})

    assert "3 of 12,345 changes are listed here. Counts and digest cover all of them." in page(ada_client, request)


# -- what is different from what was approved -------------------------------------------------------------------------


def test_a_superseding_request_shows_the_difference(ada_client: Client) -> None:
    old = approval(updates(100), status="superseded", decided_at=timezone.now())
    changed = updates(101)
    changed[4]["before"], changed[4]["after"] = {"unit_price": "1.29"}, {"unit_price": "1.42"}
    del changed[9]
    new = approval(changed, supersedes=old, superseded_reason="drift")

    html = page(ada_client, new)
    section = html[html.index('id="apcore-difference"') : html.index('id="apcore-asked"')]
    text = words(section)

    assert "What is different from what was approved" in text
    assert "not executed: its effect was no longer the approved one." in text
    assert "100 changes then, 100 now." in text
    assert "Not made any more, or not like that: 2. New, or different: 2." in text
    assert (
        "store.Track:5 ~ changed unit_price before: 0.99 → after: 1.09 ~ changed unit_price before: 1.29 → after: 1.42"
        in text
    )
    assert "store.Track:10 ~ changed unit_price before: 0.99 → after: 1.09 not part of it" in text
    assert "store.Track:101 not part of it ~ changed" in text
    assert "store.Track:50" not in text
    assert page_url(old) in section


@pytest.mark.parametrize("approved", [True, False])
def test_another_version_of_the_module_is_a_reason_too(ada_client: Client, approved: bool) -> None:
    old = approval(updates(1), status="superseded", decided_at=timezone.now() if approved else None)
    new = approval(updates(1), supersedes=old, superseded_reason="the module was changed")

    assert "It was not executed: the module was changed." in words(page(ada_client, old))
    text = words(page(ada_client, new))
    assert "the module was changed." in text
    assert ("This was approved before, and not executed" in text) is approved


def test_the_difference_of_large_effects_loads_a_page_of_it(ada_client: Client) -> None:
    old = approval(updates(5_000), status="superseded")
    changed = [{**row, "after": {"unit_price": "2.00"}} for row in updates(5_000)]
    loaded: list[EffectChange] = []

    def count(instance: EffectChange, **kwargs: Any) -> None:
        loaded.append(instance)

    new = approval(changed, supersedes=old, superseded_reason="drift")
    post_init.connect(count, sender=EffectChange)
    try:
        html = page(ada_client, new)
    finally:
        post_init.disconnect(count, sender=EffectChange)

    assert "Only the first 50 objects that differ are shown." in html
    assert len(loaded) <= approval_queries.CHANGES_PER_PAGE + 4 * approval_queries.DIFFERENCES_SHOWN


# -- who may do what --------------------------------------------------------------------------------------------------


def test_view_only_staff_sees_no_buttons_and_reads_why(victor_client: Client) -> None:
    html = page(victor_client, approval(updates(1)))

    assert "data-verdict" not in html
    assert "Measure again" not in html
    assert "Cancel this request" not in html
    assert "You may not decide on approval requests." in html
    assert "What happens if it is approved" in html
    assert "If it is approved, a worker runs this at once" in html
    assert "you approve" not in html


def test_a_requester_reads_why_somebody_else_has_to_decide(ada_client: Client, ada: User) -> None:
    html = page(ada_client, approval(updates(1), requested_by=ada, identity_id=str(ada.pk)))

    assert "data-verdict" not in html
    assert "You asked for this yourself, so somebody else has to decide." in html
    assert "Go to what you can do" in html
    assert "Cancel this request" in html


def test_who_is_not_in_the_group_of_deciders_reads_that(ada_client: Client) -> None:
    ApprovalPolicy.objects.create(name="Finance", deciders=Group.objects.create(name="finance"))

    html = page(ada_client, approval(updates(1)))

    assert "data-verdict" not in html
    assert "The policy leaves this decision to another group." in html


def test_without_the_permission_to_view_there_is_nothing_to_see(stranger_client: Client) -> None:
    page(stranger_client, approval(updates(1)), status=403)


def test_unknown_requests_are_not_found(ada_client: Client) -> None:
    approval()

    for known in ("00000000-0000-4000-8000-000000000000", "nonsense"):
        assert ada_client.get(f"/admin/django_apcore/approvalrequest/{known}/change/").status_code == 404


def test_anonymous_visitors_log_in_first() -> None:
    response = Client().get(page_url(approval()))

    assert response.status_code == 302
    assert "/admin/login/" in response.headers["Location"]


# -- after the decision -----------------------------------------------------------------------------------------------


def decided(request: ApprovalRequest, user: User, verdict: str = "approve", reason: str = "") -> None:
    ApprovalDecision.objects.create(
        request=request,
        verdict=verdict,
        decided_by=user,
        decided_by_name=user.get_username(),
        reason=reason,
        effect_digest=request.effect_digest,
        channel="admin",
    )


def test_an_executed_request_says_that_the_digests_are_equal(ada_client: Client, ada: User) -> None:
    request = approval(
        updates(1),
        status="consumed",
        executed_at=timezone.now(),
        committed_digest="d" * 64,
        result_redacted={"tracks": 1, "card": "***REDACTED***"},
    )
    decided(request, ada, reason="Agreed on Tuesday.")

    text = words(page(ada_client, request))

    assert "Approved by ada. Less than a minute ago" in text
    assert "Executed once." in text
    assert "Exactly what was approved was committed. The digest of what was committed equals" in text
    assert "tracks 1" in text
    assert "card ***REDACTED***" in text
    assert "✓ approved ada" in text
    assert "Agreed on Tuesday." in text
    assert "There is nothing left to decide." in text


def test_digests_that_differ_raise_the_alarm(ada_client: Client) -> None:
    request = approval(updates(1), status="consumed", executed_at=timezone.now(), committed_digest="e" * 64)

    assert "The digests differ." in words(page(ada_client, request))


@pytest.mark.parametrize(
    ("provenance", "said"),
    [
        ("planned", "Exactly the approved plan was applied."),
        ("declared", "What it did was not measured."),
        ("none", "What it changed was neither previewed nor compared with anything."),
    ],
)
def test_no_more_is_claimed_than_was_compared(ada_client: Client, provenance: str, said: str) -> None:
    request = approval(
        updates(1), provenance=provenance, status="consumed", executed_at=timezone.now(), committed_digest="d" * 64
    )

    assert said in words(page(ada_client, request))


@pytest.mark.parametrize(
    ("status", "title"),
    [
        ("rejected", "Rejected"),
        ("cancelled", "Cancelled"),
        ("expired", "Expired"),
        ("failed", "Approved, and failed"),
        ("superseded", "Replaced by a newer request"),
    ],
)
def test_whatever_was_not_executed_says_that_nothing_was_changed(ada_client: Client, status: str, title: str) -> None:
    failure = {"code": "MODULE_EXECUTE_ERROR", "message": "Module 'x' failed"}
    text = words(page(ada_client, approval(updates(1), status=status, failure=failure)))

    assert title in text
    assert "Nothing was changed." in text
    assert "Nobody decided." in text
    assert "An approval held only for" in text
    assert "data-verdict" not in text


@pytest.mark.parametrize("provenance", ["planned", "declared", "none"])
def test_of_a_failure_that_nobody_measured_no_more_is_claimed_than_is_known(
    ada_client: Client, provenance: str
) -> None:
    text = words(page(ada_client, approval(provenance=provenance, status="failed")))

    assert "Nothing was changed." not in text
    assert "What it did outside of the databases before it failed is not known." in text


def test_a_request_that_was_cancelled_says_who_did_it_and_why(ada_client: Client, ada: User, victor: User) -> None:
    request = approval(updates(1), requested_by=victor)
    services.approve(request.pk, actor=ada, seen_digest=request.effect_digest)
    services.cancel(request.pk, actor=victor, reason="Wrong genre.")

    text = words(page(ada_client, request))

    assert "Approved by ada." in text
    assert "Withdrawn by victor." in text
    assert "The reason given: Wrong genre." in text


def test_what_was_approved_and_not_executed_in_time_says_who_approved_it(ada_client: Client, ada: User) -> None:
    request = approval(updates(1), status="expired")
    decided(request, ada)

    assert "Approved by ada." in words(page(ada_client, request))


def test_a_superseded_request_leads_to_its_successor(ada_client: Client) -> None:
    old = approval(updates(1), status="superseded")
    new = approval(updates(1), supersedes=old, superseded_reason="drift")

    assert page_url(new) in page(ada_client, old)


def test_an_approved_request_waits_and_looks_again(ada_client: Client, ada: User) -> None:
    request = approval(updates(1), status="approved")
    decided(request, ada)

    html = page(ada_client, request)

    assert "Waiting for a worker" in html
    assert 'data-waiting="yes"' in html
    assert f'content="5; url={page_url(request)}"' in html


def test_a_request_past_its_time_counts_as_expired_before_that_is_recorded(ada_client: Client) -> None:
    html = page(ada_client, approval(updates(1), expires_at=timezone.now() - timedelta(minutes=3)))

    assert "expired" in words(html)
    assert "Too late." in words(html)
    assert "data-verdict" not in html


def test_the_audit_trail_of_the_request_is_on_the_page(ada_client: Client, ada: User) -> None:
    request = approval(updates(1))
    services.reject(request.pk, actor=ada, reason="No.", seen_digest=request.effect_digest)

    text = words(page(ada_client, request))

    assert "Rejected by ada." in text
    assert "The reason given: No." in text
    assert f"approval.rejected ada (user {ada.pk})" in text
    assert ada_client.get(page_url(request).replace("change", "history")).status_code == 302


# -- safety -----------------------------------------------------------------------------------------------------------


def test_nothing_that_others_wrote_becomes_markup(ada_client: Client, ada: User) -> None:
    request = approval(
        [
            change("update", 1, label=SCRIPT, before={SCRIPT: SCRIPT}, after={SCRIPT: {SCRIPT: SCRIPT}}),
            change(SCRIPT, 2, SCRIPT, target=SCRIPT, summary=SCRIPT, after=SCRIPT * 50),
        ],
        module_description=SCRIPT,
        identity_type=SCRIPT,
        identity_id=SCRIPT,
        identity_roles=[SCRIPT],
        call_chain=[SCRIPT],
        inputs_redacted={SCRIPT: SCRIPT},
        original_inputs_redacted={SCRIPT: "other"},
        effect_complete=False,
        effect_gaps=[SCRIPT],
        effect_unwatched=[SCRIPT],
        compensation=SCRIPT,
        status="failed",
        failure={"message": SCRIPT, "code": SCRIPT},
        superseded_reason=SCRIPT,
        supersedes=approval([change("update", 1, label=SCRIPT, before=SCRIPT, after=SCRIPT)], status="superseded"),
    )
    decided(request, ada, reason=SCRIPT)
    services.append("approval.misused", subject=request.subject, data={"x": SCRIPT})

    html = page(ada_client, request)

    assert "<script>alert" not in html
    assert "&lt;script&gt;alert" in html


def test_the_page_works_under_a_strict_content_security_policy(ada_client: Client) -> None:
    html = page(ada_client, approval(updates(1)))

    assert not re.search(r"<[^>]+\son\w+=", html)
    assert not re.search(r"<[^>]+\sstyle=", html)
    assert not re.search(r"<style|<script(?![^>]*\ssrc=)(?![^>]*application/json)[^>]*>", html)
    assert not re.search(r"(src|href)=.https?://", html)


def test_the_page_extends_the_admin_of_the_site(ada_client: Client) -> None:
    html = page(ada_client, approval(updates(1)))

    assert "Music store" in html
    assert 'class="breadcrumbs"' in html


def test_a_page_without_details_says_so(ada_client: Client) -> None:
    old = approval(updates(2), status="rejected", decided_at=timezone.now() - timedelta(days=3))
    assert services.remove_details(older_than=timedelta(days=1)) == 1
    html = page(ada_client, old)
    assert "Details removed" in html
    assert "The single changes were removed." in html
    assert "2 rows changed" in html
    assert DIGEST in html
    assert "Track number 1" not in html
    assert "Rock" not in html
