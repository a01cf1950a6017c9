"""Following and ending tasks."""

from typing import Any

import pytest
from django.contrib.auth.models import Group
from rest_framework.test import APIClient

from django_apcore import services
from tests.django_apcore.api.conftest import account, client_of, url

pytestmark = pytest.mark.django_db(databases="__all__")  # a call enrols every database


@pytest.fixture
def task(agent: APIClient) -> dict[str, Any]:
    Group.objects.create(name="squad")
    response = agent.post(url("modules/groups.find/submit/"), {"inputs": {"name": "squad"}}, format="json")
    body: dict[str, Any] = response.json()
    return body


def test_the_submitter_follows_it_to_its_result(agent: APIClient, task: dict[str, Any]) -> None:
    waiting = agent.get(task["status_url"]).json()
    assert (waiting["status"], waiting["progress"], waiting["result"]) == ("pending", 0, None)
    services.run_task(task["task_id"])
    done = agent.get(task["status_url"]).json()
    assert (done["status"], done["progress"], done["error"]) == ("completed", 100, None)
    assert done["result"] == {"names": ["squad"]}
    assert done["trace_id"] == task["trace_id"]


def test_a_failure_has_the_protocols_form(agent: APIClient) -> None:
    path = url("modules/groups.fail/submit/")
    task = agent.post(path, {"inputs": {"how": "badly"}}, format="json").json()
    services.run_task(task["task_id"])
    response = agent.get(task["status_url"])
    assert response.json()["status"] == "failed"
    assert response.json()["error"]["code"] == "MODULE_EXECUTE_ERROR"
    assert b"hunter2" not in response.content


def test_others_do_not_see_it(stranger: APIClient, task: dict[str, Any]) -> None:
    assert stranger.get(task["status_url"]).status_code == 404
    assert stranger.get(url("tasks/")).json()["count"] == 0
    assert stranger.post(task["status_url"] + "cancel/").status_code == 404


def test_who_manages_tasks_sees_all_and_no_secrets(task: dict[str, Any], agent: APIClient) -> None:
    path = url("modules/groups.find/submit/")
    agent.post(path, {"inputs": {"name": "other"}}, format="json")
    manager = client_of(account("manager", "change_asynctask"))
    assert manager.get(url("tasks/")).json()["count"] == 2
    services.run_task(task["task_id"])
    assert manager.get(task["status_url"]).json()["result"] == {"names": ["squad"]}


def test_the_list_can_be_filtered(agent: APIClient, task: dict[str, Any]) -> None:
    assert agent.get(url("tasks/?status=pending&module_id=groups.find")).json()["count"] == 1
    assert agent.get(url("tasks/?status=running")).json()["count"] == 0
    assert agent.get(url("tasks/?module_id=groups.add")).json()["count"] == 0
    assert agent.get(url("tasks/?status=perhaps")).status_code == 400


def test_a_waiting_task_is_cancelled(agent: APIClient, task: dict[str, Any]) -> None:
    response = agent.post(task["status_url"] + "cancel/", {}, format="json")
    assert response.status_code == 200
    assert response.json()["cancel_requested"] is True
    services.run_task(task["task_id"])
    assert agent.get(task["status_url"]).json()["status"] == "cancelled"
