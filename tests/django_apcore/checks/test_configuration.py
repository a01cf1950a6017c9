"""System checks: every misconfiguration has its message."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.checks import CheckMessage
from django.db import connection
from django.test import override_settings

from django_apcore.checks import configuration as checks
from django_apcore.models import ACLRule
from project.celery import app as celery


def ids(found: list[CheckMessage]) -> list[str | None]:
    return [message.id for message in found]


def configured(check: Any, **apcore: Any) -> list[CheckMessage]:
    with override_settings(APCORE=apcore):
        found: list[CheckMessage] = check(None)
    return found


def test_unknown_keys_have_a_hint() -> None:
    [found] = configured(checks.check_keys, SENSITIV_KEYS=[])
    assert found.id == "django_apcore.E001"
    assert "SENSITIVE_KEYS" in str(found.hint)
    [found] = configured(checks.check_keys, FOO=1)
    assert "ApcoreSettings" in str(found.hint)


def test_wrong_types_are_reported_once() -> None:
    assert ids(configured(checks.check_keys, REFRESH_SECONDS="x")) == ["django_apcore.E002"]
    for check in (checks.check_paths, checks.check_acl, checks.check_handler, checks.check_encryption):
        assert configured(check, REFRESH_SECONDS="x") == []


@pytest.mark.parametrize(
    "setting",
    [
        {"CONTEXT_FACTORY": "no.such"},
        {"REWRITERS": ["no.such"]},
        {"ACL_CONDITIONS": {"x": "no.such"}},
        {"APPROVAL_HANDLER": "no.such"},
    ],
)
def test_paths_have_to_exist(setting: dict[str, Any]) -> None:
    assert ids(configured(checks.check_paths, **setting)) == ["django_apcore.E003"]
    assert configured(checks.check_paths) == []


@pytest.mark.req("R-11.2-01", "R-11.4-01")
@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ({"MIDDLEWARE": ["no.such"]}, "cannot be imported"),
        ({"MIDDLEWARE": [{"id": "retry", "config": {"max_retries": 9}}]}, "1 to 5"),
        ({"MIDDLEWARE": [{"id": "retry", "priority": 2_000}]}, "0 to 1000"),
        ({"MIDDLEWARE": [{"id": "retry"}, {"id": "retry"}]}, "already"),
        ({"MIDDLEWARE_DISABLED": ["acl_check"]}, "neither disabled nor replaced"),
        ({"MIDDLEWARE_DISABLED": ["metrix"]}, "not on by default"),
        ({"EXTENSIONS": {"acl": "no.such"}}, "extensions.acl.class"),
        ({"EXTENSIONS": {"acl_cheker": "no.such"}}, "no extension point"),
    ],
)
def test_middleware_has_to_be_makeable(setting: dict[str, Any], text: str) -> None:
    [found] = configured(checks.check_middleware, **setting)
    assert found.id == "django_apcore.E016"
    assert text in found.msg
    assert "pipeline steps" in str(found.hint)
    assert configured(checks.check_middleware, MIDDLEWARE=[{"id": "retry"}], MIDDLEWARE_DISABLED=["usage"]) == []


def test_every_wrong_entry_has_its_message() -> None:
    assert ids(configured(checks.check_middleware, MIDDLEWARE=["no.such", {"id": "x"}])) == ["django_apcore.E016"] * 2


def test_modules_that_need_an_approval_need_a_handler() -> None:
    [found] = configured(checks.check_handler, APPROVAL_HANDLER=None)
    assert found.id == "django_apcore.E004"
    assert "store.customers.erase" in found.msg
    assert configured(checks.check_handler) == []
    assert configured(checks.check_handler, APPROVAL_HANDLER=None, AUTO_REGISTER_MODULES=False) == []


def test_the_access_list_has_to_be_readable(tmp_path: Path) -> None:
    assert ids(configured(checks.check_acl, ACL_FILE=str(tmp_path / "none.yaml"))) == ["django_apcore.E005"]
    bad = tmp_path / "bad.yaml"
    bad.write_text("rules: [{effect: allow}]")
    [found] = configured(checks.check_acl, ACL_FILE=str(bad))
    assert (found.id, found.hint, "bad.yaml: rule 1" in found.msg) == ("django_apcore.E005", None, True)
    good = tmp_path / "good.yaml"
    good.write_text("rules: [{callers: ['*'], targets: ['*'], effect: allow}]")
    assert configured(checks.check_acl, ACL_FILE=str(good)) == []


@pytest.mark.django_db
def test_so_do_the_rules_in_the_database() -> None:
    ACLRule.objects.create(callers=["*"], targets=["*"], effect="allow")
    assert checks.check_acl_rows(None, databases=["default"]) == []
    broken = ACLRule.objects.create(callers=["*"], targets=["*"], effect="allow", conditions={"nonsense": 1})
    assert checks.check_acl_rows(None) == []
    [found] = checks.check_acl_rows(None, databases=["default"])
    assert found.id == "django_apcore.E005"
    assert str(broken.pk) in found.msg


def test_production_has_encryption_keys_of_its_own() -> None:
    with override_settings(DEBUG=False):
        assert ids(configured(checks.check_encryption)) == ["django_apcore.W001"]
        assert configured(checks.check_encryption, ENCRYPTION_KEYS=[Fernet.generate_key().decode()]) == []
    with override_settings(DEBUG=True):
        assert configured(checks.check_encryption) == []


def test_encryption_keys_are_fernet_keys() -> None:
    keys = [Fernet.generate_key().decode(), "too short", "é"]
    assert ids(configured(checks.check_encryption_keys, ENCRYPTION_KEYS=keys)) == ["django_apcore.E007"] * 2
    assert "too short" not in str(configured(checks.check_encryption_keys, ENCRYPTION_KEYS=keys))


@pytest.fixture
def celery_conf() -> Iterator[Any]:
    names = ("broker_url", "task_always_eager")
    before = {name: celery.conf[name] for name in names}
    yield celery.conf
    celery.conf.update(before)


@pytest.mark.parametrize(
    ("conf", "expected"),
    [
        ({"task_always_eager": True}, ["django_apcore.W002"]),
        ({"broker_url": "memory://"}, ["django_apcore.W003"]),
        ({"broker_url": None}, ["django_apcore.W003"]),
        ({"broker_url": "redis://localhost"}, []),
    ],
)
def test_celery_has_workers_and_a_broker(celery_conf: Any, conf: dict[str, Any], expected: list[str]) -> None:
    celery_conf.update(conf)
    assert ids(checks.check_celery(None)) == expected


@pytest.mark.sqlite
def test_sqlite_is_set_up_for_several_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checks.check_database(None) == []
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", {})
    assert ids(checks.check_database(None)) == ["django_apcore.W004", "django_apcore.W005"]


def test_atomic_requests_are_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", True)
    assert "django_apcore.W006" in ids(checks.check_database(None))
