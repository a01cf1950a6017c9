"""The settings, the configuration file and the environment of a Django process."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings

from apcore import Config
from apcore.errors import ConfigError, ConfigNotFoundError
from django_apcore import runtime
from django_apcore.checks import configuration as checks
from django_apcore.conf import ApcoreSettings, get_settings, load_config
from django_apcore.testing import override_runtime
from tests.django_apcore import stage
from tools.settings_schema import FILE, as_text

HEAD = 'version: "1.8.0"\nproject: {name: shop}\n'

Configured = Callable[..., AbstractContextManager[None]]


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Configured]:
    """Within the block: these settings, this file and these variables."""

    @contextmanager
    def configured(file: str | None = None, env: dict[str, str] | None = None, **apcore: Any) -> Iterator[None]:
        with monkeypatch.context() as patch:
            for name, value in (env or {}).items():
                patch.setenv(name, value)
            if file is not None:
                (tmp_path / "apcore.yaml").write_text(file, encoding="utf-8")
                apcore["CONFIG_FILE"] = str(tmp_path / "apcore.yaml")
            with override_settings(APCORE=apcore):
                yield

    monkeypatch.delenv("APCORE_CONFIG_FILE", raising=False)
    yield configured
    runtime.reset()


@pytest.mark.req("R-9.13.3-01", "R-9.8.2-05")
def test_the_namespace_is_registered_when_django_starts() -> None:
    found = [each for each in Config.registered_namespaces() if each["name"] == "django-apcore"]

    assert [(each["env_prefix"], each["has_schema"], each["env_style"]) for each in found] == [
        ("DJANGO_APCORE", True, "auto")
    ]


@pytest.mark.req("R-9.13.3-02")
def test_the_documented_defaults(configured: Configured) -> None:
    with configured():
        section = load_config().namespace("django-apcore")
        assert (section["auto_register_modules"], section["url_prefix"]) == (True, "/api/apcore")


@pytest.mark.req("R-9.13.3-06")
def test_a_second_start_is_no_duplicate() -> None:
    before = Config.registered_namespaces()
    apps.get_app_config("django_apcore").ready()

    assert Config.registered_namespaces() == before


@pytest.mark.req("R-9.13.3-03")
def test_the_shipped_schema_is_that_of_the_settings() -> None:
    assert FILE.read_text(encoding="utf-8") == as_text(), "run: python -m tools.settings_schema --write"


@pytest.mark.req("R-9.13.3-03")
@pytest.mark.parametrize("head", [HEAD, 'apcore: {version: "1.8.0", project: {name: shop}}\n'])
def test_a_wrong_type_in_the_file_is_refused(configured: Configured, head: str) -> None:
    with configured(f"{head}django-apcore: {{url_prefix: 5}}\n"):
        with pytest.raises(ConfigError, match="django-apcore: url_prefix must be string") as caught:
            load_config()
        with pytest.raises(ImproperlyConfigured, match="url_prefix"):
            get_settings()
    assert caught.value.code == "CONFIG_INVALID"


@pytest.mark.req("R-9.13.3-04")
def test_the_sample_section_is_accepted(configured: Configured) -> None:
    section = "django-apcore: {auto_register_modules: true, url_prefix: /api/apcore, middleware: {enabled: true}}\n"
    with configured(HEAD + section, MIDDLEWARE=["a.B"]):
        assert load_config().get("django-apcore.middleware.enabled") is True
        assert get_settings().middleware == ("a.B",)


def test_middleware_can_be_switched_off_without_repeating_it(configured: Configured) -> None:
    with configured(MIDDLEWARE=["a.B"], env={"DJANGO_APCORE_MIDDLEWARE_ENABLED": "false"}):
        assert get_settings().middleware == ()
    with configured(HEAD + "django-apcore: {middleware: [c.D]}\n", MIDDLEWARE=["a.B"]):
        assert get_settings().middleware == ("c.D",)


@pytest.mark.req("R-9.13.3-05")
def test_variables(configured: Configured) -> None:
    env = {
        "DJANGO_APCORE_URL_PREFIX": "/governed",
        "DJANGO_APCORE_AUTO_REGISTER_MODULES": "false",
        "DJANGO_APCORE_APPROVAL_EXPIRES_AFTER": "3600",
        "DJANGO_APCORE_SENSITIVE_KEYS": "iban, pin",
        "DJANGO_APCORE_TASK_QUEUE": "12",
        "DJANGO_APCORE_EFFECT_LISTED": "5",
    }
    with configured(env=env, URL_PREFIX="/x", EFFECT_LISTED=7):
        found, config = get_settings(), load_config()

    assert (found.url_prefix, found.auto_register_modules, found.effect_listed) == ("/governed", False, 5)
    assert found.approval_expires_after == timedelta(hours=1)
    assert found.sensitive_keys == ("iban", "pin")
    assert found.task_queue == "12", "what has to be a text is one"
    assert config.get("django-apcore.url.prefix") is None
    assert str(config.source("django-apcore.url_prefix")) == "environment DJANGO_APCORE_URL_PREFIX"


def test_a_wrong_variable_is_named(configured: Configured) -> None:
    wrong = pytest.raises(ImproperlyConfigured, match="from environment DJANGO_APCORE_EFFECT_LISTED")
    with configured(env={"DJANGO_APCORE_EFFECT_LISTED": "many"}), wrong:
        get_settings()


@pytest.mark.parametrize(
    ("setting", "section", "core", "expected"),
    [
        ({"ACL_DEFAULT_EFFECT": "allow"}, "acl: {default_effect: deny}\n", "acl.default_effect", ("allow", "deny")),
        ({"EXECUTOR": {"max_call_depth": 5}}, "executor: {max_call_depth: 6}\n", "executor.max_call_depth", (5, 6)),
        ({"SYS_MODULES": {"enabled": True}}, "sys_modules: {enabled: false}\n", "sys_modules.enabled", (True, False)),
    ],
)
def test_sections_of_apcore_have_one_place(
    configured: Configured, setting: dict[str, Any], section: str, core: str, expected: tuple[Any, Any]
) -> None:
    with configured(HEAD, **setting):
        assert load_config().get(core) == expected[0]
        assert str(load_config().source(core)) == "settings"
    with configured(HEAD + section, **setting):
        assert load_config().get(core) == expected[1]


def test_the_access_list_may_be_named_in_the_file(configured: Configured, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text("rules: [{callers: ['*'], targets: ['*'], effect: deny}]")
    with configured(f"{HEAD}acl: {{root: {rules}}}\n"):
        assert get_settings().acl_file == str(rules)
    with configured(HEAD):
        assert get_settings().acl_file is None
    with configured(HEAD, env={"APCORE_ACL_DEFAULT_EFFECT": "allow"}):
        assert get_settings().acl_default_effect == "allow"


def test_what_a_project_did_not_ask_for_is_off(configured: Configured) -> None:
    with configured():
        config = load_config()
    for key in ("extensions.auto_discover", "sys_modules.enabled", "observability.tracing.enabled"):
        assert (config.get(key), str(config.source(key))) == (False, "django")


def test_settings_without_a_file_are_those_of_the_dictionary(configured: Configured) -> None:
    with configured(EFFECT_LISTED=7, ACL_CONDITIONS={"x": "a.b"}, SENSITIVE_KEYS=["iban"]):
        assert get_settings() == ApcoreSettings(effect_listed=7, acl_conditions={"x": "a.b"}, sensitive_keys=("iban",))


def test_sensitive_keys_of_both_places_count(configured: Configured) -> None:
    with configured(HEAD + "observability: {redaction: {sensitive_keys: [pin]}}\n", SENSITIVE_KEYS=["iban"]):
        assert get_settings().sensitive_keys == ("iban", "pin")


def test_the_variable_names_the_file_before_the_setting(
    configured: Configured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(HEAD + "django-apcore: {url_prefix: /other}\n")
    with configured(HEAD, env={"APCORE_CONFIG_FILE": str(other)}):
        assert get_settings().url_prefix == "/other"
    wrong = pytest.raises(ConfigNotFoundError, match=str(tmp_path / "missing.yaml"))
    with configured(env={"APCORE_CONFIG_FILE": "missing.yaml"}), override_settings(BASE_DIR=tmp_path), wrong:
        load_config()


def test_nothing_is_searched_for_in_the_working_directory(
    configured: Configured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "apcore.yaml").write_text(HEAD + "acl: {default_effect: allow}\n")
    monkeypatch.chdir(tmp_path)
    with configured():
        assert get_settings().acl_default_effect == "deny"


@pytest.mark.django_db
def test_the_app_is_built_from_the_configuration(configured: Configured) -> None:
    text = HEAD + "executor: {max_call_depth: 9}\nobservability: {error_history: {max_entries_per_module: 3}}\n"
    text += "sys_modules: {usage: {retention_hours: 7}}\n"
    built_from_it = override_runtime(modules=[stage.echo], installed=False)
    with configured(text, EXECUTOR={"max_call_depth": 5, "max_module_repeat": 2}), built_from_it as built:
        limits = built.executor.settings
        assert built.app.config.file is not None
        assert (limits.max_call_depth, limits.max_module_repeat) == (9, 2)
        assert built.app.error_history.limits.per_module == 3
        assert built.app.usage.settings.retention_hours == 7


MODULE = """
class Hello:
    description = "Says hello"
    input_schema = {"type": "object", "properties": {}}
    output_schema = {"type": "object"}
    def execute(self, inputs, context):
        return dict(inputs)
"""


@pytest.mark.parametrize("discovers", [True, False])
def test_modules_below_a_directory_where_the_file_says_so(
    configured: Configured, tmp_path: Path, discovers: bool
) -> None:
    (tmp_path / "more" / "greet").mkdir(parents=True)
    (tmp_path / "more" / "greet" / "hello.py").write_text(MODULE)
    switch = "auto_discover: true, " if discovers else ""
    text = f"{HEAD}extensions: {{{switch}root: {tmp_path / 'more'}}}\nschema: {{validation: {{strict: false}}}}\n"
    with configured(text):
        registry = runtime.get_registry()

    assert registry.has("greet.hello") is discovers
    assert registry.has("store.catalogue.search")
    assert not registry.get_definition("store.catalogue.search").strict_inputs


def ids(found: list[Any]) -> list[str]:
    return [each.id for each in found]


def test_every_error_of_the_file_is_a_message_with_a_hint(configured: Configured) -> None:
    with configured("acl: {default_effect: maybe}\nexecutor: {max_call_depth: 0}\n"):
        found = checks.check_config(None)
        assert checks.check_keys(None) == []
    assert ids(found) == ["django_apcore.E006"] * 4
    told = [each.msg for each in found]
    for path in ("acl.default_effect", "executor.max_call_depth", "project.name", "version"):
        assert any(f" {path} " in text for text in told), path
    assert all("apcore.yaml" in each.hint for each in found)


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"env": {"APCORE_EXECUTOR_MAX_CALL_DEPTH": "0"}}, "variable APCORE_EXECUTOR_MAX_CALL_DEPTH"),
        ({"EXECUTOR": {"max_call_depth": 0}}, "APCORE, in Django's settings"),
        ({"ACL_DEFAULT_EFFECT": "perhaps"}, "APCORE, in Django's settings"),
        ({"file": "a: ["}, "apcore.yaml"),
        ({"CONFIG_FILE": "missing.yaml"}, "APCORE['CONFIG_FILE']"),
    ],
)
def test_the_hint_says_where_to_mend_it(configured: Configured, given: dict[str, Any], hint: str) -> None:
    with configured(**given):
        [found] = checks.check_config(None)
    assert (found.id, hint in str(found.hint)) == ("django_apcore.E006", True)


def test_a_mistyped_key_is_a_warning(configured: Configured) -> None:
    with configured(HEAD + "acl: {defualt_effect: allow}\n"):
        [found] = checks.check_config(None)
    assert found.id == "django_apcore.W008"
    assert "did you mean 'acl.default_effect'" in found.msg
    with configured(HEAD):
        assert checks.check_config(None) == []


START = """
import os, sys
from django.conf import settings
settings.configure(
    SECRET_KEY="k", ROOT_URLCONF="__main__",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django_apcore"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
)
from django.core.management import execute_from_command_line
urlpatterns = []
execute_from_command_line(sys.argv)
"""


def manage(*words: str, file: Path) -> subprocess.CompletedProcess[str]:
    script = file.with_name("manage.py")
    script.write_text(START)
    env = {"APCORE_CONFIG_FILE": str(file), "PATH": "/usr/bin", "PYTHONPATH": str(Path.cwd())}
    return subprocess.run([sys.executable, str(script), *words], capture_output=True, text=True, env=env, check=False)


def test_a_broken_file_is_an_error_of_the_system_checks_and_not_a_traceback(tmp_path: Path) -> None:
    file = tmp_path / "apcore.yaml"
    file.write_text("acl: {default_effect: maybe}\n")

    checked = manage("check", file=file)
    asked = manage("apcore", "config", "check", "--json", file=file)
    called = manage("apcore", "list", file=file)

    for each in (checked, called):
        assert each.returncode == 1
        assert each.stderr.count("django_apcore.E006") == 3
        assert "HINT: Mend" in each.stderr
        assert "Traceback" not in each.stderr
    assert asked.returncode == 1
    assert [each["path"] for each in json.loads(asked.stdout)["errors"]] == [
        "acl.default_effect",
        "project.name",
        "version",
    ]
