"""The API keeps to its own description, and falls over nothing that the description allows or forbids."""

from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from django.contrib.auth.models import Group
from django.core.handlers.wsgi import WSGIHandler
from django.test import override_settings
from django.urls import resolve
from drf_spectacular.openapi import AutoSchema
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from jsonschema import Draft202012Validator
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient
from schemathesis import GenerationMode, checks

from django_apcore.api.openapi import described
from django_apcore.api.urls import urlpatterns
from tests.django_apcore.api.conftest import account, call, client_of, url

# A call enrols every database, and a measurement isolates itself, which needs a transaction of its own.
pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")

EXAMPLES = 8
CHECKS = (
    checks.not_a_server_error,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.status_code_conformance,
)
UNDESCRIBED = {"metrics", "schema", "docs", "unknown"}


@pytest.fixture
def document(agent: APIClient) -> dict[str, Any]:
    body: dict[str, Any] = agent.get(url("schema/")).json()
    return body


def test_the_document_is_openapi_31_and_says_where_the_api_is(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    assert document["servers"] == [{"url": "/api/apcore"}]
    assert {"tokenAuth", "cookieAuth"} <= set(document["components"]["securitySchemes"])


@override_settings(REST_FRAMEWORK={})
def test_a_project_need_not_choose_a_schema_class() -> None:
    @described(operation_id="look")
    def get(view: object, request: object) -> None: ...

    assert issubclass(vars(get)["kwargs"]["schema"], AutoSchema)


def test_the_ends_of_a_list_may_be_null(document: dict[str, Any]) -> None:
    page = document["components"]["schemas"]["PaginatedModuleSummaryList"]["properties"]
    assert page["next"]["type"] == page["previous"]["type"] == ["string", "null"]
    assert "nullable" not in page["next"] | page["previous"]


def test_it_has_every_endpoint_and_no_other(document: dict[str, Any]) -> None:
    assert len(document["paths"]) == len(urlpatterns) - len(UNDESCRIBED)
    for path in document["paths"]:
        concrete = path.replace("{module_id}", "a.b").replace("{approval_id}", SOME_ID).replace("{task_id}", SOME_ID)
        assert resolve(url(concrete.lstrip("/"))).url_name not in UNDESCRIBED


SOME_ID = "5f0c0f5e-6b1c-4f0e-9d0a-0b7f3a1f7b52"


def test_every_operation_has_a_name_a_summary_and_its_errors(document: dict[str, Any]) -> None:
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    for operation in operations:
        assert operation["description"]
        assert {"401", "default"} <= set(operation["responses"])


def test_it_comes_as_yaml_too(agent: APIClient) -> None:
    response = agent.get(url("schema/"), headers={"Accept": "application/vnd.oai.openapi"})
    assert response.content.startswith(b"openapi: 3.1.0")


def test_making_it_warns_of_nothing(agent: APIClient, capsys: pytest.CaptureFixture[str]) -> None:
    agent.get(url("schema/"))
    assert "Warning" not in capsys.readouterr().err


def test_the_page_loads_nothing_from_other_hosts(agent: APIClient) -> None:
    page = agent.get(url("docs/"))
    assert page.status_code == 200
    assert page["Content-Type"].startswith("text/html")
    assert b"http://" not in page.content
    assert b"https://" not in page.content
    assert b'<html lang="en"' in page.content
    assert b"django_apcore/docs.js" in page.content
    script = agent.get(url("docs/?script="))
    assert b"/api/apcore/schema/" in script.content


def test_answers_are_as_described(agent: APIClient, document: dict[str, Any]) -> None:
    def check(answer: object, component: str) -> None:
        schema = {**document, "$ref": f"#/components/schemas/{component}"}
        assert [error.message for error in Draft202012Validator(schema).iter_errors(answer)] == []

    Group.objects.create(name="squad")
    body = {"inputs": {"name": "squad"}}
    pending = call(agent, "groups.delete", body["inputs"]).json()
    task = agent.post(url("modules/groups.find/submit/"), body, format="json").json()
    check(pending, "Pending")
    check(agent.get(pending["status_url"]).json(), "Approval")
    check(task, "Submitted")
    check(agent.get(task["status_url"]).json(), "Task")
    check(agent.post(url("modules/groups.delete/validate/"), body, format="json").json(), "Preflight")
    check(agent.get(url("modules/groups.delete/")).json(), "Module")
    check(call(agent, "groups.find", body["inputs"]).json(), "Result")
    check(call(agent, "groups.find", {}).json(), "Error")
    viewer = client_of(account("viewer", "view_usagebucket"))
    check(viewer.get(url("usage/")).json(), "Usage")
    check(viewer.get(url("usage/?module_id=groups.find")).json(), "Usage")
    check(viewer.get(url("usage/?module_id=groups.delete")).json(), "Usage")  # nobody called it


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_no_request_makes_it_fail(mode: GenerationMode) -> None:
    """Requests that the description allows, and ones that it forbids: no 5xx, and answers as described."""
    Group.objects.create(name="squad")
    user = account("robot", "decide_approvalrequest", "view_approvalrequest")
    headers = {"Authorization": f"Token {Token.objects.create(user=user).key}"}
    request = call(client_of(account("agent")), "groups.delete", {"name": "squad"}).json()
    task = client_of(user).post(url("modules/groups.find/submit/"), {"inputs": {"name": ""}}, format="json").json()
    known = {"module_id": "groups.delete", "approval_id": request["approval_id"], "task_id": task["task_id"]}
    api = schemathesis.openapi.from_wsgi(url("schema/"), WSGIHandler(), headers=headers)
    for operation in api.get_all_operations():
        exercise(operation.ok(), mode, {}, headers)
        exercise(operation.ok(), mode, known, headers)


def exercise(operation: Any, mode: GenerationMode, known: dict[str, str], headers: dict[str, str]) -> None:
    names = {parameter.name for parameter in operation.path_parameters}
    path = {name: value for name, value in known.items() if name in names} or None

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode, path_parameters=path))
    def check(case: Any) -> None:
        case.call_and_validate(headers=headers, checks=CHECKS)

    with suppress(Unsatisfiable):  # an operation without parameters or body cannot be called wrongly
        check()
