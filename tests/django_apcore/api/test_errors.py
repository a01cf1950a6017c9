"""Errors as answers."""

import inspect
import pkgutil
import re
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.conf import LazySettings
from django.test import Client
from rest_framework.test import APIClient

import django_apcore
from apcore import Context, module
from apcore.acl import ACL
from apcore.errors import ErrorFormatterRegistry, ModuleExecuteError, format_error
from django_apcore.api.errors import ADAPTER, RestErrorFormatter, register_error_formatter
from django_apcore.runtime import Runtime
from tests.django_apcore.api.conftest import call, url
from tests.django_apcore.trouble import closed, in_the_way


@pytest.mark.req("R-8.8.4-02")
def test_the_formatter_of_this_package_is_registered_once_when_django_starts() -> None:
    registered = ErrorFormatterRegistry.get("django")
    assert isinstance(registered, RestErrorFormatter)
    register_error_formatter()
    assert ErrorFormatterRegistry.get("django") is registered


@pytest.mark.req("R-8.8.4-02")
def test_an_error_names_its_own_trace_or_that_of_the_request() -> None:
    request = SimpleNamespace(trace_id="a" * 32)
    assert format_error(ModuleExecuteError("No"), ADAPTER, request)["trace_id"] == "a" * 32
    own = ModuleExecuteError("No", trace_id="b" * 32)
    assert format_error(own, ADAPTER, request) == own.to_dict()


def test_an_answer_is_what_the_formatter_made(client: Client, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    class Short:
        def format(self, error: ModuleExecuteError, context: object) -> dict[str, str]:
            return {"short": error.code}

    monkeypatch.setattr(ErrorFormatterRegistry, "_formatters", {"django": Short()})
    assert client.get("/api/apcore/modules/").json() == {"short": "REQUEST_UNAUTHENTICATED"}


@pytest.mark.req("R-12.2-38")
def test_public_functions_and_methods_are_named_as_in_the_core() -> None:
    names = {
        f"{name}.{member}"
        for _, name, _ in pkgutil.walk_packages(django_apcore.__path__, "django_apcore.")
        if ".migrations" not in name
        for member, found in vars(import_module(name)).items()
        if inspect.isfunction(found) and found.__module__ == name
    }
    assert len(names) > 100
    assert {name for name in names if not re.fullmatch(r"[a-z_0-9]+", name.rpartition(".")[2])} == set()


@module(id="groups.undone", effect="transactional")
def undone(context: Context, lost: bool) -> None:
    """Meet trouble with the database, in a transaction."""
    raise closed() if lost else in_the_way()


@module(id="groups.half")
def half(context: Context) -> None:
    """Meet the same where nobody knows what was done before."""
    raise in_the_way()


@module(id="groups.half_nested")
def half_nested(context: Context) -> None:
    """Meet it in another module, which itself leaves nothing."""
    context.executor.call("groups.undone", {"lost": False}, context)


@pytest.fixture
def troubled(api_runtime: Runtime) -> None:
    for each in (undone, half, half_nested):
        api_runtime.registry.register(each.id, each)
    assert isinstance(api_runtime.acl, ACL)
    api_runtime.acl.replace([{"callers": ["*"], "targets": ["groups.*"], "effect": "allow"}], "deny")


@pytest.mark.django_db(databases="__all__")
@pytest.mark.usefixtures("troubled")
class TestBusyDatabase:
    def test_what_was_undone_may_be_tried_again_soon(self, agent: APIClient) -> None:
        answer = call(agent, "groups.undone", {"lost": False})
        assert (answer.status_code, answer.json()["code"]) == (503, "REQUEST_DATABASE_BUSY")
        assert answer.json()["retryable"] is True
        assert answer.json()["trace_id"] in answer["traceparent"]
        assert int(answer["Retry-After"]) > 0

    def test_of_a_lost_connection_nobody_promises_that_nothing_happened(self, agent: APIClient) -> None:
        answer = call(agent, "groups.undone", {"lost": True})
        assert (answer.status_code, "retryable" in answer.json()) == (503, False)

    @pytest.mark.parametrize("module_id", ["groups.half", "groups.half_nested"])
    def test_what_may_have_been_done_in_part_is_an_error(self, agent: APIClient, module_id: str) -> None:
        answer = call(agent, module_id, {})
        assert (answer.status_code, answer.json()["code"]) == (500, "MODULE_EXECUTE_ERROR")
        assert not answer.has_header("Retry-After")

    def test_a_view_that_cannot_read_says_so(
        self, agent: APIClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def read(*args: object) -> None:
            raise closed()

        monkeypatch.setattr("django_apcore.api.views.tasks.visible_tasks", read)
        assert agent.get(url("tasks/")).status_code == 503
        [record] = [each for each in caplog.records if each.name == "django_apcore.api"]
        assert record.getMessage().endswith("the database is busy or away (OperationalError, no SQLSTATE)")

    def test_a_retry_under_the_same_key_is_a_new_attempt(self, agent: APIClient) -> None:
        first = call(agent, "groups.undone", {"lost": False}, **{"Idempotency-Key": "k"})
        second = call(agent, "groups.undone", {"lost": False}, **{"Idempotency-Key": "k"})
        assert first.status_code == second.status_code == 503
        assert not second.has_header("Idempotency-Replayed")


@pytest.mark.django_db(databases="__all__")
def test_an_installation_that_is_at_fault_tells_its_log_and_not_the_caller(
    agent: APIClient, settings: LazySettings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.APCORE = {**settings.APCORE, "ACL_FILE": "/secret/place/rules.yaml"}
    agent.raise_request_exception = False
    answer = call(agent, "groups.find", {"name": "a"})
    assert (answer.status_code, answer.json()["code"]) == (500, "GENERAL_INTERNAL_ERROR")
    assert "/secret/place" not in answer.content.decode()
    assert "/secret/place/rules.yaml" in caplog.text
