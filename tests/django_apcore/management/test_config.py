"""`manage.py apcore config`."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import override_settings

from django_apcore import runtime

HEAD = 'version: "1.8.0"\nproject: {name: shop}\n'

pytestmark = pytest.mark.django_db(databases=["default", "other"])


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("APCORE_CONFIG_FILE", raising=False)
    runtime.reset()
    yield
    runtime.reset()


def run(*words: str) -> tuple[str, int]:
    out, status = io.StringIO(), 0
    try:
        call_command("apcore", "config", *words, stdout=out, skip_checks=True)
    except SystemExit as end:
        status = int(str(end.code))
    return out.getvalue(), status


def shown(*words: str) -> dict[str, Any]:
    return {each["key"]: each for each in json.loads(run("show", "--json", *words)[0])["values"]}


def test_every_value_has_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "apcore.yaml"
    file.write_text(HEAD + "acl: {default_effect: allow}\n")
    monkeypatch.setenv("DJANGO_APCORE_REFRESH_SECONDS", "2")
    with override_settings(APCORE={"CONFIG_FILE": str(file), "EFFECT_LISTED": 7}):
        config = runtime.get().app.config
        config.mount("billing", from_dict={"port": 1})
        config.set("executor.max_call_depth", 5)
        values = shown()
        text, status = run("show", "acl")

    assert {key: (values[key]["value"], values[key]["source"]) for key in EXPECTED} == {
        "acl.root": ("./acl", "default"),
        "sys_modules.enabled": (False, "django"),
        "django-apcore.effect_listed": (7, "settings"),
        "billing.port": (1, "mount"),
        "acl.default_effect": ("allow", f"file {file}"),
        "django-apcore.refresh_seconds": (2, "environment DJANGO_APCORE_REFRESH_SECONDS"),
        "executor.max_call_depth": (5, "override"),
    }
    assert status == 0
    assert f"Configuration file: {file} (legacy mode)" in text
    assert "acl.default_effect" in text
    assert "executor" not in text


EXPECTED = (
    "acl.root",
    "sys_modules.enabled",
    "django-apcore.effect_listed",
    "billing.port",
    "acl.default_effect",
    "django-apcore.refresh_seconds",
    "executor.max_call_depth",
)


def test_only_what_was_changed() -> None:
    with override_settings(APCORE={"EFFECT_LISTED": 7}):
        assert list(shown("--changed", "django-apcore.effect_listed")) == ["django-apcore.effect_listed"]
        assert shown("--changed", "executor") == {}


SECRETS = {
    "APCORE_DATABASE_URL": "postgresql://user:canary-one@here/db",
    "APCORE_SECRET_KEY": "canary-two",
    "DJANGO_APCORE_API_KEY": "canary-three",
    "DJANGO_APCORE_WEBHOOK_URL": "https://user:canary-four@here/",
}


@pytest.mark.parametrize("words", [("show",), ("show", "--json"), ("check", "--json")])
def test_no_secret_is_shown(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    keys = ["canary-five" + "A" * 32 + "="]
    with override_settings(APCORE={"ENCRYPTION_KEYS": keys, "SENSITIVE_KEYS": ["pin"]}):
        runtime.get().app.config.set("billing.pin", "canary-six")
        runtime.get().app.config.set("billing.nested.password", "canary-seven")
        printed, status = run(*words)

    assert status == 0
    assert "canary" not in printed
    if words[0] == "show":
        assert "***REDACTED***" in printed


def test_what_is_wrong_is_told_with_its_path(tmp_path: Path) -> None:
    file = tmp_path / "apcore.yaml"
    file.write_text("version: 1.0\nproject: {name: shop}\nacl: {default_effect: maybe}\n")
    with override_settings(APCORE={"CONFIG_FILE": str(file)}):
        text, status = run("check")
        data = json.loads(run("check", "--json")[0])

    assert status == 1
    assert "put it in quotes" in text
    assert "2 errors." in text
    assert [each["path"] for each in data["errors"]] == ["acl.default_effect", "version"]
    assert data["ok"] is False


def test_a_missing_file_is_told() -> None:
    with override_settings(APCORE={"CONFIG_FILE": "missing.yaml"}):
        text, status = run("check")

    assert (status, "missing.yaml" in text) == (1, True)


def test_what_is_right_is_said_with_doubts(tmp_path: Path) -> None:
    file = tmp_path / "apcore.yaml"
    file.write_text(HEAD + "executor: {max_call_depht: 5}\n")
    with override_settings(APCORE={"CONFIG_FILE": str(file)}):
        text, status = run("check")

    assert status == 0
    assert "did you mean 'executor.max_call_depth'" in text
    assert "No errors." in text
