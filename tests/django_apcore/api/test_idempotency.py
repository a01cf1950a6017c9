"""Retries under a key: one request, one effect, one answer."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import Group
from django.db import connections
from django.utils import timezone
from rest_framework.test import APIClient

from django_apcore import runtime
from django_apcore.models import ApprovalRequest, AsyncTask, IdempotentResponse
from tests.django_apcore.api.conftest import call, url

pytestmark = pytest.mark.django_db(databases="__all__")  # a call enrols every database


def add(client: APIClient, key: str, name: str = "team") -> Any:
    return call(client, "groups.add", {"name": name}, **{"Idempotency-Key": key})


@pytest.mark.req("DR-15")
def test_the_same_request_acts_once_and_gets_the_same_answer(agent: APIClient) -> None:
    first, second = add(agent, "k"), add(agent, "k")
    assert (first.status_code, first.content) == (second.status_code, second.content)
    assert Group.objects.filter(name__startswith="team").count() == 1
    assert not first.has_header("Idempotency-Replayed")
    assert second["Idempotency-Replayed"] == "true"


def test_without_a_key_every_request_acts(agent: APIClient) -> None:
    call(agent, "groups.add", {"name": "team"})
    call(agent, "groups.add", {"name": "team"})
    assert Group.objects.filter(name__startswith="team").count() == 2


def test_another_request_under_the_same_key_is_refused(agent: APIClient) -> None:
    add(agent, "k")
    refused = add(agent, "k", "other team")
    assert (refused.status_code, refused.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    other_module = call(agent, "groups.find", {"name": "team"}, **{"Idempotency-Key": "k"})
    assert other_module.status_code == 422
    submitted = agent.post(
        url("modules/groups.add/submit/"), {"inputs": {"name": "team"}}, format="json", headers={"Idempotency-Key": "k"}
    )
    assert submitted.status_code == 422
    assert Group.objects.filter(name__contains="team").count() == 1


def test_equal_inputs_in_another_order_are_the_same_request(agent: APIClient) -> None:
    headers = {"Idempotency-Key": "k"}
    first = call(agent, "groups.delete", {"name": "x", "reference": "y"}, **headers)
    second = call(agent, "groups.delete", {"reference": "y", "name": "x"}, **headers)
    assert first.json() == second.json()


def test_keys_of_different_callers_have_nothing_to_do_with_each_other(agent: APIClient, stranger: APIClient) -> None:
    assert add(agent, "k").json()["result"] == {"name": "team 0"}
    assert add(stranger, "k").json()["result"] == {"name": "team 1"}


def test_a_retry_never_opens_a_second_approval(agent: APIClient) -> None:
    headers = {"Idempotency-Key": "k"}
    first = call(agent, "groups.delete", {"name": "x"}, **headers)
    second = call(agent, "groups.delete", {"name": "x"}, **headers)
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.content == second.content
    assert first["Location"] == second["Location"]
    assert first["Retry-After"] == second["Retry-After"]
    assert ApprovalRequest.objects.count() == 1


def test_nor_a_second_task(agent: APIClient) -> None:
    path, headers = url("modules/groups.find/submit/"), {"Idempotency-Key": "k"}
    answers = [agent.post(path, {"inputs": {"name": ""}}, format="json", headers=headers) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert AsyncTask.objects.count() == 1


def test_a_failure_of_the_module_is_kept_too(agent: APIClient) -> None:
    headers = {"Idempotency-Key": "k"}
    first = call(agent, "groups.fail", {"how": "quota"}, **headers)
    second = call(agent, "groups.fail", {"how": "quota"}, **headers)
    assert first.status_code == second.status_code == 429
    assert second["Idempotency-Replayed"] == "true"
    assert first.content == second.content


def test_a_refusal_before_the_module_ran_is_not(agent: APIClient) -> None:
    toggles = runtime.get().toggles
    toggles.set("groups.add", False)
    assert add(agent, "k").status_code == 403
    toggles.set("groups.add", True)
    assert add(agent, "k").status_code == 200


def test_a_refusal_of_what_the_module_itself_called_is_kept(agent: APIClient) -> None:
    headers = {"Idempotency-Key": "k"}
    first, second = (call(agent, "groups.hop", {}, **headers) for _ in range(2))
    assert (first.status_code, first.json()["code"]) == (403, "ACL_DENIED")
    assert first.content == second.content
    assert Group.objects.filter(name__startswith="hop").count() == 1


def test_a_refused_submission_is_not_kept(agent: APIClient) -> None:
    path, headers = url("modules/groups.find/submit/"), {"Idempotency-Key": "k"}
    runtime.get().toggles.set("groups.find", False)
    assert agent.post(path, {"inputs": {"name": ""}}, format="json", headers=headers).status_code == 403
    runtime.get().toggles.set("groups.find", True)
    assert agent.post(path, {"inputs": {"name": ""}}, format="json", headers=headers).status_code == 202


def test_while_the_first_one_runs_a_retry_is_told_so(agent: APIClient) -> None:
    add(agent, "k")
    IdempotentResponse.objects.update(status_code=None, body_encrypted="")
    response = add(agent, "k")
    assert (response.status_code, response.json()["code"]) == (409, "IDEMPOTENCY_KEY_IN_USE")
    assert response.json()["retryable"] is True
    assert Group.objects.filter(name__startswith="team").count() == 1


def test_a_key_is_forgotten_after_a_day(agent: APIClient) -> None:
    add(agent, "k")
    add(agent, "other")
    IdempotentResponse.objects.update(created_at=timezone.now() - timedelta(hours=24, seconds=1))
    assert add(agent, "k").json()["result"] == {"name": "team 2"}
    assert IdempotentResponse.objects.count() == 1


def test_answers_are_kept_encrypted(agent: APIClient) -> None:
    add(agent, "k", "very private")
    row = IdempotentResponse.objects.values().get()
    assert "private" not in repr(row)
    assert "very" not in repr(row)


def test_answers_outlive_a_change_of_the_secret_key(agent: APIClient, settings: LazySettings) -> None:
    first = add(agent, "k")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another", [settings.SECRET_KEY]
    assert add(agent, "k").content == first.content


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 256, "ü"])
def test_unusable_keys_are_refused(agent: APIClient, key: str) -> None:
    response = add(agent, key)
    assert (response.status_code, response.json()["code"]) == (400, "GENERAL_INVALID_INPUT")
    assert not Group.objects.filter(name__startswith="team").exists()


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True, databases="__all__")
def test_of_two_at_the_same_time_one_acts(agent: APIClient) -> None:
    barrier, statuses = threading.Barrier(4), []

    def retry() -> None:
        client = APIClient(headers={"Authorization": agent._credentials["HTTP_AUTHORIZATION"]})
        barrier.wait()
        statuses.append(add(client, "k").status_code)
        connections.close_all()

    threads = [threading.Thread(target=retry) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) <= {200, 409}
    assert 200 in statuses
    assert Group.objects.filter(name__startswith="team").count() == 1
