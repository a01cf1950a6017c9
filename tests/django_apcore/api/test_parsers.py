"""Bodies that are not what a call can be made of."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from tests.django_apcore.api.conftest import url

pytestmark = pytest.mark.django_db(databases="__all__")  # a call enrols every database

CALL = url("modules/groups.find/call/")


def post(client: APIClient, body: bytes | str, content_type: str = "application/json") -> object:
    return client.post(CALL, body, content_type=content_type)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "null",
        "[]",
        '"inputs"',
        "{}",
        '{"inputs": null}',
        '{"inputs": []}',
        '{"inputs": "{}"}',
        '{"input": {"name": ""}}',
        '{"inputs": {"name": ""}, "extra": 1}',
        '{"inputs": {"name": "a", "name": "b"}}',
        '{"inputs": {"name": NaN}}',
        '{"inputs": {"name": 1e999}}',
        '{"inputs": {"name": 99999999999999999999999999}}',
        '{"inputs": {"name": "\\u0000"}}',
        '{"inputs": {"name": "\\ud800"}}',
        '{"inputs": {"name": ' + "[" * 100_000 + "]" * 100_000 + "}}",
    ],
)
def test_are_refused_with_a_reason(agent: APIClient, body: str) -> None:
    response = post(agent, body)
    assert response.status_code == 400
    assert response.json()["code"] in {"GENERAL_INVALID_INPUT", "SCHEMA_VALIDATION_ERROR"}
    assert response.json()["message"]


def test_text_in_another_encoding_is_refused(agent: APIClient) -> None:
    assert post(agent, '{"inputs": {"name": "ü"}}'.encode("latin-1")).status_code == 400
    assert post(agent, '{"inputs": {}}'.encode("utf-16"), "application/json; charset=utf-16").status_code == 400


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml", "application/jsonp", "/", "a" * 300])
def test_other_media_types_are_refused(agent: APIClient, content_type: str) -> None:
    response = post(agent, '{"inputs": {"name": ""}}', content_type)
    assert (response.status_code, response.json()["code"]) == (415, "REQUEST_UNSUPPORTED_MEDIA_TYPE")


def test_a_body_without_a_media_type_is_refused(agent: APIClient) -> None:
    response = agent.generic("POST", CALL, '{"inputs": {"name": ""}}', content_type="")
    assert response.status_code == 415


@pytest.mark.parametrize("length", ["-1", "x", "0"])
def test_a_body_whose_length_is_a_lie_is_not_read(agent: APIClient, length: str) -> None:
    response = agent.post(CALL, '{"inputs": {"name": ""}}', content_type="application/json", CONTENT_LENGTH=length)
    assert response.status_code == 400


def test_a_large_body_is_not_read(agent: APIClient, configure: Callable[..., None]) -> None:
    configure(API_MAX_BODY_BYTES=100)
    assert post(agent, '{"inputs": {"name": "%s"}}' % ("x" * 70)).status_code == 200
    refused = post(agent, '{"inputs": {"name": "%s"}}' % ("x" * 80))
    assert (refused.status_code, refused.json()["code"]) == (413, "REQUEST_TOO_LARGE")


@pytest.mark.parametrize(
    "content_type", ["multipart/form-data", "multipart/form-data; boundary=x", "multipart/form-data; boundary=ü"]
)
def test_a_broken_form_with_a_session_is_refused_like_any_other(content_type: str, agent: APIClient) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(agent.get(CALL).wsgi_request.user)
    response = client.post(CALL, b"--x\r\nnonsense", content_type=content_type)
    assert response.status_code in {400, 403, 415}
    assert response.json()["code"]
