"""What finished requests keep, and what they lose after some time."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import serializers
from django.test import override_settings
from django.utils import timezone

from django_apcore import services, tasks
from django_apcore.exceptions import ApprovalConflict
from django_apcore.models import ApprovalRequest, AuditEntry, EffectChange
from django_apcore.runtime import Runtime
from tests.django_apcore.stage import ask, context_for

pytestmark = pytest.mark.django_db(databases=["default", "other"])

AT_ONCE = timedelta(0)


def everything_stored(request: ApprovalRequest) -> str:
    rows = [ApprovalRequest.objects.get(pk=request.pk), *EffectChange.objects.filter(request=request)]
    return serializers.serialize("json", rows)


@pytest.fixture
def rejected(runtime: Runtime, requester: User, approver: User) -> ApprovalRequest:
    request = ask(runtime, requester, "test.groups.plan", name="ada@example.com")
    return services.reject(request.pk, actor=approver, reason="no", seen_digest=request.effect_digest)


def test_inputs_changes_and_results_go_and_the_proof_stays(rejected: ApprovalRequest) -> None:
    assert "ada@example.com" in everything_stored(rejected)
    assert services.remove_details(older_than=AT_ONCE) == 1
    assert "ada@example.com" not in everything_stored(rejected)
    left = ApprovalRequest.objects.get(pk=rejected.pk)
    assert (left.effect_digest, left.effect_counts) == (rejected.effect_digest, rejected.effect_counts)
    assert (left.inputs_digest, left.requested_by_id) == (rejected.inputs_digest, rejected.requested_by_id)
    assert left.decisions.get().reason == "no"
    entry = AuditEntry.objects.get(kind="approval.details_removed")
    assert (entry.subject, entry.data["effect_digest"]) == (left.subject, left.effect_digest)
    assert (entry.data["changes"], entry.data["messages"]) == (rejected.effect_listed, 0)
    assert services.verify().ok
    assert services.remove_details(older_than=AT_ONCE) == 0


def test_open_and_young_requests_keep_theirs(pending: ApprovalRequest, rejected: ApprovalRequest) -> None:
    assert services.remove_details(older_than=timedelta(days=1)) == 0
    services.remove_details(older_than=AT_ONCE)
    pending.refresh_from_db()
    assert pending.details_removed_at is None
    assert pending.inputs_redacted


def test_of_a_failure_the_code_stays(runtime: Runtime, rejected: ApprovalRequest) -> None:
    failure = {"code": "MODULE_EXECUTE_ERROR", "message": "ada@example.com is unknown"}
    ApprovalRequest.objects.filter(pk=rejected.pk).update(status="failed", failure=failure, finished_at=timezone.now())
    services.remove_details(older_than=AT_ONCE)
    rejected.refresh_from_db()
    assert rejected.failure == {"code": "MODULE_EXECUTE_ERROR"}


def test_a_result_that_is_no_longer_kept_is_not_handed_out(
    runtime: Runtime, requester: User, approver: User, pending: ApprovalRequest
) -> None:
    services.approve(pending.pk, actor=approver, seen_digest=pending.effect_digest)
    services.execute_approved(pending.pk)
    services.remove_details(older_than=AT_ONCE)
    with pytest.raises(ApprovalConflict, match="no longer kept"):
        services.resume(pending.pk, module_id=pending.module_id, inputs={"name": "new"}, context=context_for(requester))


def test_records_are_kept_as_long_as_the_settings_say(rejected: ApprovalRequest, tmp_path: Any) -> None:
    assert services.keep_records() == services.Kept()
    AuditEntry.objects.exists()
    told = {"APPROVAL_RETENTION_DAYS": 0, "AUDIT_ARCHIVE_DIR": str(tmp_path), "AUDIT_SEGMENT_DAYS": 0}
    with override_settings(APCORE={**told, "AUDIT_RETENTION_DAYS": 30}):
        done = tasks.keep_records()
    assert (done["details_removed"], done["pruned"]) == (1, 0)
    assert done["archived"] == len(list(tmp_path.iterdir())) > 0
    with override_settings(APCORE={**told, "AUDIT_RETENTION_DAYS": 0}):
        assert tasks.keep_records()["pruned"] > 0
    assert services.verify().ok
    assert json.dumps(done)
