"""The control modules in Django: measured before a human signs, and in force everywhere when it is committed."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.test import override_settings

from apcore.acl import ACL
from apcore.errors import ACLDeniedError, ConfigError, InvalidInputError, ModuleDisabledError, ModuleNotFoundError
from apcore.redaction import REDACTED_VALUE
from django_apcore import services
from django_apcore.models import ApprovalRequest, AuditEntry, Override, PolicyRevision, Toggle
from django_apcore.runtime import Runtime
from django_apcore.stores import DatabaseACL
from django_apcore.testing import allow_all, override_runtime
from tests.django_apcore.stage import MODULES, ask, context_for, make_user

TOGGLE = "system.control.toggle_feature"
UPDATE = "system.control.update_config"
RELOAD = "system.control.reload_module"
TIMEOUT = "executor.default_timeout"
SECRET = "hunter2-and-more"

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "other"])


@pytest.fixture
def switched_on() -> Iterator[None]:
    with override_settings(APCORE={**settings.APCORE, "SYS_MODULES": {"enabled": True}}):
        yield


@pytest.fixture
def runtime(db: None, switched_on: None) -> Iterator[Runtime]:
    with override_runtime(modules=MODULES, installed=False, acl=allow_all()) as built:
        yield built


@pytest.fixture
def requester(db: None) -> User:
    return make_user("rita")


@pytest.fixture
def approver(db: None) -> User:
    return make_user("adam", decides=True)


@pytest.fixture
def heard(runtime: Runtime) -> list[Any]:
    events: list[Any] = []
    runtime.app.events.subscribe(events.append, types=["apcore.module.*", "apcore.config.*"])
    return events


def approve_and_execute(request: ApprovalRequest, approver: User) -> ApprovalRequest:
    services.approve(request.pk, actor=approver, seen_digest=request.effect_digest)
    return services.execute_approved(request.pk)


def off(runtime: Runtime, requester: User) -> ApprovalRequest:
    return ask(runtime, requester, TOGGLE, module_id="test.plain.echo", enabled=False, reason="incident 7")


class TestToggle:
    def test_the_approver_sees_the_toggle_and_nothing_else(
        self, runtime: Runtime, requester: User, heard: list[Any]
    ) -> None:
        request = off(runtime, requester)

        assert (request.provenance, request.effect_complete) == ("measured", True)
        [change] = request.changes.all()
        assert (change.action, change.kind) == ("insert", "django_apcore.Toggle")
        assert (change.after["module_id"], change.after["enabled"]) == ("test.plain.echo", False)
        assert change.after["reason"] == "incident 7"
        assert not Toggle.objects.exists()
        assert not PolicyRevision.objects.filter(name=PolicyRevision.TOGGLES).exists()
        assert not AuditEntry.objects.filter(kind__startswith="toggle.").exists()
        assert runtime.toggles.is_enabled("test.plain.echo")
        assert heard == []

    @pytest.mark.req("R-6.7-10", "R-6.7-12")
    def test_what_was_approved_is_switched(
        self, runtime: Runtime, requester: User, approver: User, heard: list[Any]
    ) -> None:
        request = off(runtime, requester)
        services.toggle("test.groups.plan", enabled=False, actor=None)  # another switch in between is no drift

        done = approve_and_execute(request, approver)

        assert done.status == "consumed", done.error
        assert done.committed_digest == request.effect_digest
        row = Toggle.objects.get(module_id="test.plain.echo")
        assert (row.enabled, row.reason, row.updated_by) == (False, "incident 7", requester)
        with pytest.raises(ModuleDisabledError):
            runtime.executor.call("test.plain.echo", {"text": "a"})
        entry = AuditEntry.objects.get(kind="toggle.disabled", module_id="test.plain.echo")
        assert (entry.actor_id, entry.data["reason"]) == (str(requester.pk), "incident 7")
        assert entry.trace_id == request.trace_id
        assert services.verify().ok
        told = [(each.type, dict(each.data)) for each in heard if each.module_id == "test.plain.echo"]
        assert told == [("apcore.module.toggled", {"module_id": "test.plain.echo", "enabled": False})]

    def test_somebody_else_was_faster(
        self, runtime: Runtime, requester: User, approver: User, heard: list[Any]
    ) -> None:
        """The row that would be made is there now: that is another effect, and needs another decision."""
        request = off(runtime, requester)
        services.toggle("test.plain.echo", enabled=True, actor=approver, reason="looked at it")

        done = approve_and_execute(request, approver)

        assert done.status == "superseded"
        assert runtime.toggles.is_enabled("test.plain.echo")
        assert [each.data["enabled"] for each in heard] == [True]
        [change] = ApprovalRequest.objects.get(supersedes=request).changes.all()
        assert (change.action, change.before["enabled"], change.after["enabled"]) == ("update", True, False)

    def test_a_refused_switch_leaves_nothing(self, runtime: Runtime, requester: User) -> None:
        with pytest.raises(ModuleNotFoundError):
            runtime.executor.call(TOGGLE, {"module_id": "no.such", "enabled": False}, context_for(requester))
        with pytest.raises(InvalidInputError):
            runtime.executor.call(TOGGLE, {"module_id": TOGGLE, "enabled": False}, context_for(requester))
        assert not Toggle.objects.exists()
        assert not ApprovalRequest.objects.exists()


class TestUpdateConfig:
    @pytest.mark.req("R-6.7-07", "R-6.7-12")
    def test_what_was_approved_is_in_force(
        self, runtime: Runtime, requester: User, approver: User, heard: list[Any]
    ) -> None:
        request = ask(runtime, requester, UPDATE, key=TIMEOUT, value=1234, reason="slow tests")
        assert (request.provenance, request.effect_complete) == ("measured", True)
        [change] = request.changes.all()
        assert (change.kind, change.after["key"], change.after["value"]) == ("django_apcore.Override", TIMEOUT, 1234)
        assert not Override.objects.exists()

        done = approve_and_execute(request, approver)

        assert done.status == "consumed", done.error
        assert Override.objects.get().value == 1234
        told = {"key": TIMEOUT, "old_value": 30_000, "new_value": 1234}
        assert [(each.type, dict(each.data)) for each in heard] == [("apcore.config.updated", told)]
        entry = AuditEntry.objects.get(kind="config.updated")
        assert (entry.subject, entry.data) == (f"config:{TIMEOUT}", {**told, "reason": "slow tests"})

        assert runtime.executor.settings.default_timeout == 1234

        again = ask(runtime, requester, UPDATE, key=TIMEOUT, value=99)
        assert approve_and_execute(again, approver).status == "consumed"
        assert dict(heard[1].data)["old_value"] == 1234

        services.drop_override(TIMEOUT, actor=approver)
        assert runtime.executor.settings.default_timeout == 30_000

    @pytest.mark.parametrize("key", ["acl.default_effect", "observability.redaction.sensitive_keys", "sys_modules"])
    def test_what_would_not_count_is_refused_before_anybody_is_asked(
        self, runtime: Runtime, requester: User, key: str
    ) -> None:
        with pytest.raises(InvalidInputError, match="read when a process starts"):
            runtime.executor.call(UPDATE, {"key": key, "value": "deny"}, context_for(requester))
        assert not ApprovalRequest.objects.exists()

    def test_an_invalid_value_is_refused_before_anybody_is_asked(self, runtime: Runtime, requester: User) -> None:
        with pytest.raises(ConfigError):
            runtime.executor.call(UPDATE, {"key": TIMEOUT, "value": "soon"}, context_for(requester))
        assert not ApprovalRequest.objects.exists()
        assert not Override.objects.exists()

    @pytest.mark.req("R-6.7-15")
    def test_a_secret_is_stored_encrypted_and_shown_nowhere(
        self, runtime: Runtime, requester: User, approver: User, heard: list[Any], caplog: pytest.LogCaptureFixture
    ) -> None:
        request = ask(runtime, requester, UPDATE, key="db.password", value=SECRET)
        done = approve_and_execute(request, approver)

        assert done.status == "consumed", done.error
        row = Override.objects.get()
        assert (row.is_secret, row.value) == (True, None)
        assert services.value_of(row) == SECRET
        assert services.shown_value(row) == REDACTED_VALUE
        shown = [
            json.dumps(list(model.objects.values()), default=str) for model in (ApprovalRequest, AuditEntry, Override)
        ]
        shown += [json.dumps(list(request.changes.values()), default=str), str([each.to_dict() for each in heard])]
        assert SECRET not in "".join([*shown, caplog.text])
        assert dict(heard[0].data)["new_value"] == REDACTED_VALUE

    def test_settings_that_are_read_at_the_start_are_neither_set_nor_told(
        self, db: None, requester: User, caplog: pytest.LogCaptureFixture
    ) -> None:
        key, name = Fernet.generate_key().decode(), "django-apcore"
        with (
            override_settings(APCORE={**settings.APCORE, "SYS_MODULES": {"enabled": True}, "ENCRYPTION_KEYS": [key]}),
            override_runtime(modules=MODULES, installed=False, acl=allow_all()) as runtime,
        ):
            for inputs in (
                {"key": f"{name}.encryption_keys", "value": [SECRET]},
                {"key": name, "value": {"encryption_keys": [SECRET]}},
                {"key": f"{name}.lock_timeout_ms", "value": 9},
            ):
                with pytest.raises(InvalidInputError, match="read when a process starts"):
                    runtime.executor.call(UPDATE, inputs, context_for(requester))
        kept = [
            json.dumps(list(model.objects.values()), default=str) for model in (ApprovalRequest, AuditEntry, Override)
        ]
        assert key not in "".join([*kept, caplog.text])
        assert SECRET not in "".join([*kept, caplog.text])
        assert not Override.objects.exists()

    def test_a_secret_of_which_the_key_is_lost_does_not_stop_the_process(
        self, runtime: Runtime, requester: User
    ) -> None:
        services.override("db.password", SECRET, actor=requester)
        Override.objects.update(value_encrypted="broken")
        services.toggle("test.groups.plan", enabled=False, actor=None)
        assert runtime.executor.call("test.plain.echo", {"text": "a"}) == {"result": "a"}


class TestHealth:
    def test_the_summary_looks_at_the_installation_too(self, runtime: Runtime) -> None:
        output = runtime.executor.call("system.health.summary", {})
        checks = {each["name"]: each["status"] for each in output["installation"]["checks"]}
        assert (checks["database"], checks["migrations"], checks["workers"]) == ("ok", "ok", "error")
        assert output["installation"]["status"] == "error"
        with transaction.atomic():
            output = runtime.executor.call("system.health.summary", {})
        assert {each["name"]: each["status"] for each in output["installation"]["checks"]}["database"] == "ok"


class TestReload:
    def test_what_has_no_file_of_its_own_is_refused_before_it_is_done(
        self, runtime: Runtime, requester: User, approver: User
    ) -> None:
        request = ask(runtime, requester, RELOAD, module_id="test.plain.echo")
        assert request.provenance == "declared"
        assert approve_and_execute(request, approver).status == "failed"


class TestAccess:
    @pytest.mark.req("R-6.6.3-03", "R-6.6.3-05")
    @pytest.mark.parametrize("default", ["deny", "allow"])
    def test_outsiders_are_denied_unless_a_rule_says_otherwise(self, default: str, requester: User) -> None:
        changed = {"SYS_MODULES": {"enabled": True}, "ACL_DEFAULT_EFFECT": default}
        with (
            override_settings(APCORE={**settings.APCORE, **changed}),
            override_runtime(modules=MODULES, installed=False, acl=DatabaseACL()) as runtime,
        ):
            for module_id in runtime.registry.list("system."):
                with pytest.raises(ACLDeniedError):
                    runtime.executor.call(module_id, {}, context_for(requester))

            rule = {"callers": ["@external"], "targets": ["system.health.*"], "effect": "allow"}
            services.replace_rules([rule], actor=None)
            assert runtime.executor.call("system.health.summary", {}, context_for(requester))
            with pytest.raises(ACLDeniedError):
                runtime.executor.call("system.usage.summary", {}, context_for(requester))

    def test_by_default_there_are_none(self, db: None) -> None:
        with override_runtime(modules=MODULES, installed=False, acl=allow_all()) as runtime:
            assert runtime.registry.list("system.") == []

    def test_a_runtime_that_is_built_again_has_its_own(self, runtime: Runtime) -> None:
        from django_apcore import runtime as runtimes

        again = runtimes.build(registry=runtime.registry, acl=ACL((), "allow"))
        assert len(again.registry.list("system.")) == 9
        assert again.executor.call("system.manifest.full", {"prefix": "test."})["module_count"] == len(MODULES)
