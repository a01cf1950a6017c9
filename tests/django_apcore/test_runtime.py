"""The runtime of a process, and overriding it in tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings

from apcore import AutoApproveHandler, Context, Middleware, Rewrite, Toggles
from apcore.errors import ACLDeniedError, ModuleLoadError
from django_apcore import runtime, services
from django_apcore.stores import DatabaseACL, DatabaseApprovalHandler, DatabaseToggles
from django_apcore.testing import allow_all, override_runtime, work_off
from tests.django_apcore import stage


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    runtime.reset()
    yield
    runtime.reset()


def test_it_is_built_once_from_the_settings() -> None:
    built = runtime.get()
    assert runtime.get() is built
    assert isinstance(built.acl, DatabaseACL)
    assert isinstance(built.toggles, DatabaseToggles)
    assert isinstance(built.approval_handler, DatabaseApprovalHandler)
    assert built.executor.registry is built.registry is runtime.get_registry()


def test_it_is_built_anew_when_the_settings_change(tmp_path: Path) -> None:
    rules = tmp_path / "acl.yaml"
    rules.write_text("rules: [{callers: ['*'], targets: ['*'], effect: deny}]")
    before = runtime.get()
    with override_settings(APCORE={"ACL_FILE": str(rules), "APPROVAL_HANDLER": None}):
        changed = runtime.get()
        assert changed is not before
        assert not isinstance(changed.acl, DatabaseACL)
        assert changed.approval_handler is None
    assert isinstance(runtime.get().acl, DatabaseACL)


def test_a_process_that_asks_nobody_says_what_runs_without_a_signature(caplog: pytest.LogCaptureFixture) -> None:
    with override_settings(APCORE={"APPROVAL_HANDLER": None}):
        runtime.get()
    [warning] = [each.getMessage() for each in caplog.records if each.name == "django_apcore"]
    assert "store.customers.erase" in warning
    assert "store.catalogue.search" not in warning
    caplog.clear()
    runtime.get()
    assert caplog.records == []


class Recorder(Middleware):
    calls: list[str] = []

    def before(self, module_id: str, inputs: Any, context: Context) -> None:
        self.calls.append(module_id)


def shout(module_id: str, inputs: dict[str, Any], context: Context) -> Rewrite:
    return Rewrite.to({"text": inputs["text"].upper()}, "louder")


@pytest.mark.django_db
def test_middleware_rewriters_and_limits_come_from_the_settings() -> None:
    here = "tests.django_apcore.test_runtime"
    settings = {
        "MIDDLEWARE": [f"{here}.Recorder"],
        "REWRITERS": [f"{here}.shout"],
        "EXECUTOR": {"max_call_depth": 7},
    }
    with override_settings(APCORE=settings), override_runtime(modules=[stage.echo], acl=allow_all()) as built:
        assert built.executor.settings.max_call_depth == 7
        assert built.executor.call("test.plain.echo", {"text": "a"}) == {"result": "A"}


@pytest.mark.django_db
def test_a_test_may_override_every_part() -> None:
    toggles, handler = Toggles(), AutoApproveHandler()
    before = runtime.get()
    with override_runtime(modules=[stage.echo], acl=allow_all(), toggles=toggles, approval_handler=handler) as built:
        assert runtime.get() is built
        assert built.registry.has("test.plain.echo")
        assert built.registry.has("store.catalogue.search")
        assert (built.toggles, built.approval_handler) == (toggles, handler)
    assert runtime.get() is before
    with override_runtime(modules={"a.b": stage.PlanGroup}, installed=False) as built:
        assert built.registry.list() == ["a.b"]
        with pytest.raises(ACLDeniedError):
            built.executor.call("a.b", {"name": "x"})


@override_runtime(installed=False)
def test_it_works_as_a_decorator() -> None:
    assert runtime.get().registry.list() == []


@pytest.mark.django_db(transaction=True, databases=["default", "other"])
def test_waiting_work_can_be_done_in_the_process_of_the_test() -> None:
    with override_runtime(modules=stage.MODULES, installed=False, acl=allow_all()) as built:
        request = stage.ask(built, stage.make_user("rita"), "test.groups.create", name="new")
        approver = stage.make_user("adam", decides=True)
        services.approve(request.pk, actor=approver, seen_digest=request.effect_digest)
        services.submit("test.plain.echo", {"text": "a"}, stage.context_for(approver))
        requests, tasks = work_off()
    assert [each.status for each in requests] == ["consumed"]
    assert [each.status for each in tasks] == ["completed"]


class Finds:
    def discover(self, config: Any) -> list[tuple[str, Any]]:
        return [("test.found", stage.echo)]


class Refuses:
    def validate(self, definition: Any) -> list[str]:
        return ["never"] if definition.module_id == "store.customers.erase" else []


class AllowsFound:
    def check(self, caller_id: str | None, target_id: str, context: Context) -> bool:
        return target_id == "test.found"


@pytest.mark.django_db
def test_extensions_of_the_settings_take_effect() -> None:
    here = "tests.django_apcore.test_runtime"
    settings = {
        "AUTO_REGISTER_MODULES": False,
        "EXTENSIONS": {"discoverer": f"{here}.Finds", "acl": f"{here}.AllowsFound"},
    }
    with override_settings(APCORE=settings):
        built = runtime.get()
        assert built.registry.list() == ["test.found"]
        assert built.executor.call("test.found", {"text": "a"}) == {"result": "a"}
        built.registry.register("test.other", stage.echo)
        with pytest.raises(ACLDeniedError):
            built.executor.call("test.other", {"text": "a"})


def test_a_validator_of_the_settings_keeps_modules_of_apps_out() -> None:
    settings = {"EXTENSIONS": {"module_validator": "tests.django_apcore.test_runtime.Refuses"}}
    with override_settings(APCORE=settings), pytest.raises(ModuleLoadError, match="never"):
        runtime.get_registry()


@pytest.mark.django_db
def test_what_is_on_by_default_can_be_switched_off() -> None:
    with override_settings(APCORE={"MIDDLEWARE_DISABLED": ["usage"], "MIDDLEWARE": [{"id": "retry", "priority": 10}]}):
        found = {each.id: each.priority for each in runtime.get().executor.middleware}
    assert "usage" not in found
    assert found["retry"] == 10
    assert {"tracing", "logging", "metrics", "error_wrapper", "error_history"} <= found.keys()
