"""What a caller finds in the catalogue."""

from operator import itemgetter

import pytest
from rest_framework.test import APIClient

from apcore import register_sys_modules
from django_apcore import runtime
from tests.django_apcore.api.conftest import MODULES, account, client_of, url

pytestmark = pytest.mark.django_db(databases="__all__")  # a call enrols every database


module_id = itemgetter("module_id")


def listed(client: APIClient, query: str = "") -> list[str]:
    return [module_id(module) for module in client.get(url(f"modules/{query}")).json()["results"]]


def test_the_list_has_what_the_caller_may_call_and_nothing_else(agent: APIClient) -> None:
    unlisted = {"groups.forbidden", "groups.hidden", "staff.report"}
    assert listed(agent) == sorted({module.id for module in MODULES} - unlisted)


def test_conditions_of_the_access_rules_count(agent: APIClient) -> None:
    assert "staff.report" in listed(client_of(account("sven", groups=("staff",))))
    assert "staff.report" not in listed(agent)


def test_the_list_can_be_narrowed(agent: APIClient) -> None:
    assert listed(agent, "?prefix=groups.f") == ["groups.fail", "groups.find"]
    assert listed(agent, "?tag=groups&tag=reading") == ["groups.find"]
    assert listed(agent, "?tag=nothing") == []


def test_the_list_comes_in_pages(agent: APIClient) -> None:
    first = agent.get(url("modules/?page_size=4")).json()
    second = agent.get(first["next"]).json()
    assert (first["count"], len(first["results"])) == (second["count"], 4)
    assert [*map(module_id, first["results"]), *map(module_id, second["results"])] == listed(agent)
    assert agent.get(url("modules/?page=99")).json()["code"] == "REQUEST_NOT_FOUND"
    assert agent.get(url("modules/?page=" + "9" * 5000)).status_code == 404


def test_a_module_is_described(agent: APIClient) -> None:
    module = agent.get(url("modules/groups.delete/")).json()
    assert module["description"] == "Delete all groups whose name starts like this."
    assert module["effect"] == "transactional"
    assert module["requires_approval"] is True
    assert module["enabled"] is True
    assert module["annotations"]["destructive"] is True
    assert module["input_schema"]["properties"]["reference"]["x-sensitive"] is True
    assert module["output_schema"]["type"] == "object"
    assert module["url"].endswith("/api/apcore/modules/groups.delete/")


def test_a_module_that_is_switched_off_says_so(agent: APIClient) -> None:
    runtime.get().toggles.set("groups.find", False)
    assert agent.get(url("modules/groups.find/")).json()["enabled"] is False


def test_a_hidden_module_is_there_for_who_knows_its_id(agent: APIClient) -> None:
    assert agent.get(url("modules/groups.hidden/")).status_code == 200


@pytest.mark.parametrize("path", ["modules/{}/", "modules/{}/schema/"])
def test_a_module_that_may_not_be_called_is_as_unknown_as_none(agent: APIClient, path: str) -> None:
    answers = []
    for unknown in ("groups.forbidden", "groups.nothing"):
        response = agent.get(url(path.format(unknown)))
        error = response.json()
        error.pop("timestamp"), error.pop("trace_id")
        answers.append((response.status_code, repr(error).replace(unknown, "?")))
    assert answers[0] == answers[1]
    assert answers[0][0] == 404
    assert "MODULE_NOT_FOUND" in answers[0][1]


@pytest.mark.parametrize("impossible", ["..", "A", "x" * 300, "groups.find%00", "groups.%F0%9F", "a b", "%2e%2e"])
def test_ids_that_cannot_be_are_unknown_too(agent: APIClient, impossible: str) -> None:
    assert agent.get(url(f"modules/{impossible}/")).status_code == 404


def test_the_schemas_are_exported_by_profile(agent: APIClient) -> None:
    exported = agent.get(url("modules/groups.find/schema/")).json()
    assert exported["input_schema"]["properties"]["name"]["type"] == "string"
    assert agent.get(url("modules/groups.find/schema/?profile=openai")).json()["name"] == "groups_find"
    refused = agent.get(url("modules/groups.find/schema/?profile=nonsense"))
    assert (refused.status_code, refused.json()["code"]) == (400, "GENERAL_INVALID_INPUT")


@pytest.mark.req("R-4.16-11")
@pytest.mark.parametrize(("query", "required"), [("", ["name"]), ("strict=false", ["name"]), ("strict", None)])
def test_the_schemas_are_exported_strictly_on_request(agent: APIClient, query: str, required: list[str] | None) -> None:
    exported = agent.get(url(f"modules/groups.delete/schema/?{query}")).json()
    assert exported["input_schema"]["required"] == (required or ["name", "reference"])


def test_strict_is_true_or_false(agent: APIClient) -> None:
    assert agent.get(url("modules/groups.find/schema/?profile=mcp&strict=TRUE")).status_code == 200
    refused = agent.get(url("modules/groups.find/schema/?strict=perhaps"))
    assert (refused.status_code, refused.json()["code"]) == (400, "GENERAL_INVALID_INPUT")


@pytest.mark.req("R-6.6.4-01", "R-6.6.4-02")
def test_system_modules_are_told_apart_by_their_id(agent: APIClient) -> None:
    def groups() -> dict[bool, list[str]]:
        found: dict[bool, list[str]] = {True: [], False: []}
        for module in agent.get(url("modules/?page_size=500")).json()["results"]:
            found[module["is_system"]].append(module["module_id"])
        return found

    acl = runtime.get().acl
    assert acl is not None
    acl.replace([{"callers": ["@external"], "targets": ["*"], "effect": "allow"}], "deny")
    before = groups()
    assert before[True] == []
    register_sys_modules(runtime.get().app, {"enabled": True})
    after = groups()
    assert after[False] == before[False]
    assert len(after[True]) == 9
    assert all(each.startswith("system.") for each in after[True])


@pytest.mark.req("R-6.6.4-03")
def test_a_system_module_that_is_denied_says_so(agent: APIClient) -> None:
    register_sys_modules(runtime.get().app, {"enabled": True})
    response = agent.post(url("modules/system.health.summary/call/"), {"inputs": {}}, format="json")
    assert (response.status_code, response.json()["code"]) == (403, "ACL_DENIED")
    assert "system.health.summary" in response.json()["message"]
