"""System checks: what mounted REST endpoints miss."""

import pytest
from django.apps import apps
from django.test import override_settings

from django_apcore.checks import endpoints


def test_mounted_endpoints_need_their_apps(monkeypatch: pytest.MonkeyPatch) -> None:
    assert endpoints.check_endpoints(None) == []
    monkeypatch.setattr(apps, "is_installed", {"drf_spectacular"}.__contains__)
    [found] = endpoints.check_endpoints(None)
    assert found.id == "django_apcore.W016"
    assert "without rest_framework, rest_framework.authtoken." in found.msg
    sessions = ["rest_framework.authentication.SessionAuthentication"]
    with override_settings(APCORE={"API_AUTHENTICATION_CLASSES": sessions}):
        [found] = endpoints.check_endpoints(None)
    assert "authtoken" not in found.msg


@pytest.mark.parametrize("urls", ["django.contrib.auth.urls", None])
def test_endpoints_that_are_not_mounted_need_none(monkeypatch: pytest.MonkeyPatch, urls: str | None) -> None:
    monkeypatch.setattr(apps, "is_installed", {"admin"}.__contains__)
    with override_settings(ROOT_URLCONF=urls):
        assert endpoints.check_endpoints(None) == []


def test_an_old_openapi_is_warned_of() -> None:
    assert endpoints.check_description(None) == []
    with override_settings(SPECTACULAR_SETTINGS={}):
        assert [each.id for each in endpoints.check_description(None)] == ["django_apcore.W007"]
