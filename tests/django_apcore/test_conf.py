"""The APCORE setting."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings

from django_apcore.conf import ApcoreSettings, acl_conditions, get_settings, imported, unknown_keys


def test_without_settings_the_defaults_count() -> None:
    with override_settings(APCORE={}):
        assert get_settings() == ApcoreSettings()


def test_settings_are_read_live() -> None:
    before = get_settings().refresh_seconds
    with override_settings(APCORE={"REFRESH_SECONDS": 9, "APPROVAL_EXPIRES_AFTER": timedelta(hours=1)}):
        assert get_settings().refresh_seconds == 9
        assert get_settings().approval_expires_after == timedelta(hours=1)
    assert get_settings().refresh_seconds == before


def test_lists_may_be_lists() -> None:
    with override_settings(APCORE={"SENSITIVE_KEYS": ["iban"]}):
        assert get_settings().sensitive_keys == ("iban",)


@pytest.mark.parametrize(
    "wrong",
    [
        {"REFRESH_SECONDS": "soon"},
        {"REFRESH_SECONDS": True},
        {"AUTO_REGISTER_MODULES": 1},
        {"SENSITIVE_KEYS": "iban"},
        {"SENSITIVE_KEYS": [1]},
        {"APPROVAL_EXPIRES_AFTER": 3600},
        {"APPROVAL_HANDLER": 7},
        {"EXECUTOR": []},
    ],
)
def test_wrong_types_are_named(wrong: dict[str, Any]) -> None:
    [key] = wrong
    with override_settings(APCORE=wrong), pytest.raises(ImproperlyConfigured, match=key):
        get_settings()


@pytest.mark.parametrize(
    "wrong",
    [
        {"APPROVAL_RETENTION_DAYS": -1},
        {"AUDIT_RETENTION_DAYS": 10**9},
        {"WEBHOOK_TIMEOUT_SECONDS": float("nan")},
        {"WEBHOOK_TIMEOUT_SECONDS": 0},
        {"WEBHOOK_ATTEMPTS": 0},
        {"REFRESH_SECONDS": float("inf")},
        {"API_MAX_BODY_BYTES": -1},
        {"APPROVAL_EXPIRES_AFTER": timedelta(0)},
    ],
)
def test_impossible_numbers_and_times_are_named(wrong: dict[str, Any]) -> None:
    [key] = wrong
    with override_settings(APCORE=wrong), pytest.raises(ImproperlyConfigured, match=key):
        get_settings()


def test_it_has_to_be_a_dictionary() -> None:
    with override_settings(APCORE=["x"]), pytest.raises(ImproperlyConfigured, match="dictionary"):
        get_settings()


def test_unknown_keys_come_with_the_closest_known_one() -> None:
    with override_settings(APCORE={"SENSITIV_KEYS": [], "sensitive_keys": [], "FOO": 1}):
        assert unknown_keys() == [
            ("FOO", None),
            ("SENSITIV_KEYS", "SENSITIVE_KEYS"),
            ("sensitive_keys", "SENSITIVE_KEYS"),
        ]


def test_paths_are_imported() -> None:
    assert imported("datetime.timedelta") is timedelta
    for wrong in ("nonsense", "no.such.module", "datetime.nothing"):
        with pytest.raises(ImproperlyConfigured, match=wrong):
            imported(wrong)
    with override_settings(APCORE={"ACL_CONDITIONS": {"days": "datetime.timedelta"}}):
        assert acl_conditions() == {"days": timedelta}
