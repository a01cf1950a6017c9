"""`manage.py apcore`."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from django_apcore import services
from django_apcore.models import ACLRule, ApprovalRequest, AuditChain, AuditEntry, OutboxMessage, Toggle
from django_apcore.runtime import Runtime
from django_apcore.services.audit import partition_of
from django_apcore.testing import override_runtime
from tests.django_apcore import stage
from tests.django_apcore.stage import ask, make_user

pytestmark = pytest.mark.django_db(databases=["default", "other"])


@pytest.fixture
def runtime(db: None) -> Iterator[Runtime]:
    with override_runtime(modules=stage.MODULES, installed=False) as built:
        rule = {"callers": ["@external"], "targets": ["test.*"], "effect": "allow", "description": "all"}
        services.replace_rules([rule], actor=None)
        yield built


@pytest.fixture
def pending(runtime: Runtime) -> ApprovalRequest:
    return ask(runtime, make_user("rita"), "test.groups.plan", name="new")


@pytest.fixture
def approver(db: None) -> User:
    return make_user("adam", decides=True)


def run(*words: str) -> tuple[str, int]:
    """What a command prints, and its exit status."""
    out, status = io.StringIO(), 0
    try:
        call_command("apcore", *words, stdout=out, skip_checks=True)
    except SystemExit as end:
        status = int(str(end.code))
    return out.getvalue(), status


def data(*words: str, status: int = 0) -> Any:
    text, ended = run(*words, "--json")
    assert ended == status
    return json.loads(text)


def test_modules_are_listed_and_described(runtime: Runtime) -> None:
    text, _ = run("list")
    assert "test.plain.echo" in text
    assert [each["module_id"] for each in data("list", "test.plain.echo")] == ["test.plain.echo"]
    described = data("describe", "test.groups.create")
    assert (described["effect"], described["requires_approval"]) == ("transactional", True)
    assert "Say it again." in run("describe", "test.plain.echo")[0]


def test_a_module_is_called(runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert data("call", "test.plain.echo", "--inputs", '{"text": "a"}') == {"result": "a"}
    file = tmp_path / "inputs.json"
    file.write_text('{"text": "b"}')
    assert data("call", "test.plain.echo", "--inputs", f"@{file}") == {"result": "b"}
    monkeypatch.setattr("sys.stdin", io.StringIO('{"text": "c"}'))
    assert '"c"' in run("call", "test.plain.echo", "--inputs", "-")[0]


@pytest.mark.parametrize("inputs", ["", "{", "[]", "@/no/such/file"])
def test_inputs_have_to_be_a_json_object(runtime: Runtime, inputs: str) -> None:
    with pytest.raises(CommandError, match="--inputs"):
        run("call", "test.plain.echo", "--inputs", inputs)


def test_an_error_is_told_with_its_code(runtime: Runtime) -> None:
    with pytest.raises(CommandError, match=r"\[SCHEMA_VALIDATION_ERROR\]"):
        run("call", "test.plain.echo")
    assert data("call", "test.plain.echo", status=1)["code"] == "SCHEMA_VALIDATION_ERROR"
    with pytest.raises(CommandError, match="no user 'nobody'"):
        run("call", "test.plain.echo", "--as", "nobody")


def test_a_call_that_needs_an_approval_waits(runtime: Runtime) -> None:
    make_user("rita")
    told = data("call", "test.groups.plan", "--inputs", '{"name": "x"}', "--as", "rita")
    assert told["code"] == "APPROVAL_PENDING"
    request = ApprovalRequest.objects.get(pk=told["details"]["approval_id"])
    assert request.context_json["identity"]["attrs"]["via"] == "command"
    assert str(request.pk) in run("approvals", "list", "--status", "pending")[0]


@pytest.mark.req("DR-01")
def test_a_call_is_previewed(runtime: Runtime) -> None:
    found = data("validate", "test.groups.plan", "--inputs", '{"name": "x"}')
    assert found["valid"]
    assert found["predicted_changes"][0]["summary"] == "Add a group"
    text, _ = run("validate", "test.groups.plan", "--inputs", '{"name": "x"}')
    assert "planned: 1 change\n" in text
    assert run("validate", "test.groups.plan")[1] == 1
    assert not ApprovalRequest.objects.exists()


def test_a_request_is_shown_and_approved(pending: ApprovalRequest, approver: User) -> None:
    shown = data("approvals", "show", str(pending.pk))
    assert shown["changes"][0]["summary"] == "Add a group"
    assert (shown["id"], shown["asked_by"]) == (str(pending.pk), "rita")
    assert "rita" in run("approvals", "list")[0]
    digest = shown["effect_digest"]
    text, _ = run("approvals", "approve", str(pending.pk), "--as", "adam", "--digest", digest, "--reason", "fine")
    assert f"Request {pending.pk} is approved." in text
    assert pending.decisions.get().channel == "command"
    assert "adam: approve fine" in run("approvals", "show", str(pending.pk))[0]


def test_a_request_that_came_to_nothing_says_why(pending: ApprovalRequest) -> None:
    assert data("approvals", "show", str(pending.pk))["failure"] is None
    failure = {"code": "ACL_DENIED", "message": "No rule lets them"}
    ApprovalRequest.objects.filter(pk=pending.pk).update(status=ApprovalRequest.Status.FAILED, failure=failure)
    assert data("approvals", "show", str(pending.pk))["failure"] == failure
    assert "No rule lets them [ACL_DENIED]" in run("approvals", "show", str(pending.pk))[0]


def test_a_request_and_the_one_in_its_place_name_each_other(runtime: Runtime, pending: ApprovalRequest) -> None:
    later = ask(runtime, make_user("rosa"), "test.groups.plan", name="newer")
    ApprovalRequest.objects.filter(pk=later.pk).update(supersedes=pending)
    assert data("approvals", "show", str(pending.pk))["superseded_by"] == str(later.pk)
    assert data("approvals", "show", str(later.pk))["supersedes"] == str(pending.pk)
    assert f"superseded_by       {later.pk}" in run("approvals", "show", str(pending.pk))[0]


def test_a_request_is_rejected_cancelled_measured_again(pending: ApprovalRequest, approver: User) -> None:
    request = str(pending.pk)
    assert data("approvals", "remeasure", request, "--as", "adam")["status"] == "pending"
    with pytest.raises(CommandError, match="reason"):
        run("approvals", "reject", request, "--as", "adam")
    with pytest.raises(CommandError, match="APPROVAL_FORBIDDEN"):
        run("approvals", "reject", request, "--as", "rita", "--reason", "no")
    assert data("approvals", "reject", request, "--as", "adam", "--reason", "no")["status"] == "rejected"
    with pytest.raises(CommandError, match="APPROVAL_CONFLICT"):
        run("approvals", "cancel", request, "--as", "rita")
    assert data("approvals", "expire") == {"expired": 0}


def test_rules_are_listed_checked_and_carried_over(runtime: Runtime, tmp_path: Path) -> None:
    assert "@external" in run("acl", "list")[0]
    assert data("acl", "check", "test.plain.echo")["allowed"]
    assert run("acl", "check", "other.module")[1] == 1
    file = tmp_path / "rules.yaml"
    assert "1 rule written to" in run("acl", "export", str(file))[0]
    ACLRule.objects.all().delete()
    assert data("acl", "import", str(file)) == {"rules": 1}
    assert ACLRule.objects.get().description == "all"
    with pytest.raises(CommandError):
        run("acl", "import", str(tmp_path / "none.yaml"))


def test_a_module_is_switched(runtime: Runtime) -> None:
    assert "(none)" in run("toggle")[0]
    run("toggle", "test.plain.echo", "--off", "--reason", "incident 12")
    assert Toggle.objects.get().reason == "incident 12"
    assert data("toggle", "test.plain.echo") == {"module_id": "test.plain.echo", "enabled": False}
    assert data("toggle")[0]["reason"] == "incident 12"
    assert "off" in run("list")[0]
    assert data("toggle", "test.plain.echo", "--on")["enabled"]
    with pytest.raises(CommandError, match="MODULE_NOT_FOUND"):
        run("toggle", "test.typing.error", "--off")
    with pytest.raises(CommandError, match="MODULE_NOT_FOUND"):
        run("toggle", "test.typing.error")


def test_tasks_are_submitted_shown_and_cancelled(runtime: Runtime) -> None:
    make_user("rita")
    task = data("submit", "test.plain.echo", "--inputs", '{"text": "a"}', "--as", "rita")["task_id"]
    assert task in run("tasks", "list", "--status", "pending")[0]
    shown = data("tasks", "show", task)
    assert (shown["id"], shown["inputs"]) == (task, {"text": "a"})
    assert data("tasks", "cancel", task, "--as", "rita")["status"] == "cancelled"


def chains_in_use() -> set[int]:
    return set(AuditEntry.objects.values_list("partition", flat=True))


def test_the_trail_is_listed_and_verified(pending: ApprovalRequest) -> None:
    assert data("audit", "verify")["ok"]
    alone = next(f"module:{number}" for number in range(99) if partition_of(f"module:{number}") not in chains_in_use())
    services.append("test.noted", subject=alone)
    assert "1 entry read: the trail holds." in run("audit", "verify", "--partition", str(partition_of(alone)))[0]
    assert f"rita (user {pending.identity_id})" in run("audit", "list", "--subject", pending.subject)[0]
    assert [each["kind"] for each in data("audit", "list", "--subject", pending.subject)] == ["approval.requested"]
    heads = data("audit", "heads")
    assert {int(number) for number in heads} == chains_in_use()
    assert all(len(head["hash"]) == 64 and head["sequence"] for head in heads.values())


def test_a_trail_that_was_touched_ends_with_status_1(pending: ApprovalRequest) -> None:
    entry = AuditEntry.objects.filter(subject=pending.subject).get()
    head = AuditChain.objects.get(partition=entry.partition)
    AuditEntry.objects.create(
        **{
            column: getattr(entry, column)
            for column in ("partition", "at", "kind", "actor_type", "subject", "data", "previous_hash", "hash")
        },
        sequence=head.sequence + 1,
    )
    text, status = run("audit", "verify")
    assert status == 1
    assert "inserted" in text
    assert "the trail was touched" in text
    assert data("audit", "verify", status=1)["broken"][0]["reason"] == "inserted"


def test_the_trail_is_exported_and_the_file_verified(pending: ApprovalRequest, tmp_path: Path) -> None:
    text, _ = run("audit", "export")
    assert [json.loads(line)["kind"] for line in text.splitlines()].count("approval.requested") == 1
    assert run("audit", "export", "--json")[0] == text
    file = str(tmp_path / "trail.jsonl")
    written = data("audit", "export", "--output", file, "--since", "2001-01-01", "--until", "2101-01-01T00:00:00Z")
    assert written == {"entries": len(text.splitlines()), "file": file}
    assert run("audit", "export", "--until", "2001-01-01")[0] == ""
    assert "the lines hold." in run("audit", "verify", "--file", file)[0]
    Path(file).write_text(text.replace("approval.requested", "approval.rejected"))
    shown, status = run("audit", "verify", "--file", file)
    assert status == 1
    assert f"edited: {file}, line " in shown
    assert data("audit", "verify", "--file", file, status=1)["broken"][0]["reason"] == "edited"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["verify", "--file", "/no/such/file"], "/no/such/file"),
        (["export", "--since", "yesterday"], "'yesterday' is no date"),
        (["export", "--since", "2031-13-01"], "'2031-13-01' is no date"),
        (["export", "--since", "9999-12-31T23:59:59-14:00"], "9999-12-31T23:59:59-14:00' is no date"),
        (["export", "--output", "/no/such/directory/file"], "/no/such/directory"),
        (["verify", "--partition", "16"], "there is no chain 16"),
        (["seal", "--partition", "-1"], "'-1' is no number"),
        (["prune", "/tmp", "--older-than", "-5"], "'-5' is no number of days"),
        (["prune", "/tmp", "--older-than", "inf"], "'inf' is no number of days"),
        (["prune", "/tmp", "--older-than", "nan"], "'nan' is no number of days"),
        (["list", "--limit", "-1"], "'-1' is no number"),
        (["list", "--limit", "9" * 30], "9' is no number"),
    ],
)
def test_arguments_that_make_no_sense_are_said(db: None, words: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        run("audit", *words)


def test_a_negative_age_removes_no_details(pending: ApprovalRequest) -> None:
    services.cancel(pending.pk, actor=pending.requested_by)
    with pytest.raises(CommandError, match="'-1' is no number of days"):
        run("approvals", "clean", "--older-than", "-1")
    assert run("approvals", "clean", "--older-than", "0.5")[0].startswith("Details of 0 requests")
    pending.refresh_from_db()
    assert pending.inputs_redacted


def test_delivered_messages_leave_the_database(db: None) -> None:
    OutboxMessage.objects.create(kind="mail", idempotency_key="a", delivered_at=timezone.now())
    assert data("outbox", "clean", "--older-than", "1") == {"messages": 0}
    assert run("outbox", "clean", "--older-than", "0")[0] == "1 message deleted.\n"
    assert not OutboxMessage.objects.exists()


def test_old_segments_leave_the_database(pending: ApprovalRequest, tmp_path: Path) -> None:
    directory = str(tmp_path)
    assert "(none)" in run("audit", "segments")[0]
    sealed = data("audit", "seal")
    assert sealed
    assert "sealed" in run("audit", "segments")[0]
    assert len(data("audit", "archive", directory)["files"]) == len(sealed)
    assert "archived" in run("audit", "segments")[0]
    assert "0 entries deleted" in run("audit", "prune", directory, "--older-than", "1")[0]
    assert len(data("audit", "prune", directory, "--older-than", "0")["segments"]) == len(sealed)
    assert "pruned" in run("audit", "segments")[0]
    assert "a seal vouches for them" in run("audit", "verify")[0]
