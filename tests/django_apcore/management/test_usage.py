"""`manage.py apcore usage` and `errors`."""

import re
from collections.abc import Iterator

import pytest

from apcore.errors import ModuleError
from django_apcore.runtime import Runtime
from django_apcore.testing import allow_all, override_runtime
from tests.django_apcore import stage
from tests.django_apcore.management.test_apcore import data, run

pytestmark = pytest.mark.django_db(databases=["default", "other"])


@pytest.fixture
def runtime(db: None) -> Iterator[Runtime]:
    with override_runtime(modules=stage.MODULES, installed=False, acl=allow_all()) as built:
        for _ in range(3):
            built.executor.call("test.plain.echo", {"text": "a"})
        with pytest.raises(ModuleError):
            built.executor.call("test.plain.echo", {"text": 1})
        yield built


def test_all_modules_are_told(runtime: Runtime) -> None:
    text, status = run("usage")
    assert status == 0
    assert "test.plain.echo" in text
    assert "4 calls, 1 error in all." in text
    told = data("usage", "--hours", "1")
    assert (told["total_calls"], told["hours"], told["modules"][0]["error_count"]) == (4, 1, 1)


def test_one_module_is_told_with_its_callers_and_hours(runtime: Runtime) -> None:
    text, _ = run("usage", "test.plain.echo")
    assert "anonymous" in text
    assert "FROM (UTC)" in text
    told = data("usage", "test.plain.echo", "--caller-type", "anonymous")
    assert (told["call_count"], told["callers"]["anonymous"]["call_count"]) == (4, 4)
    assert data("usage", "test.plain.echo", "--caller-type", "agent")["call_count"] == 0


def test_without_calls_there_is_nothing_to_tell(db: None) -> None:
    with override_runtime(modules=stage.MODULES, installed=False, acl=allow_all()):
        assert "(none)" in run("usage")[0]
        assert "–" in run("usage", "test.plain.echo")[0]


def test_a_wrong_window_is_an_error(runtime: Runtime) -> None:
    assert data("usage", "--hours", "0", status=1)["code"] == "GENERAL_INVALID_INPUT"


def test_a_module_that_never_was_is_an_error(runtime: Runtime) -> None:
    assert data("usage", "test.no.such", status=1)["code"] == "MODULE_NOT_FOUND"


def test_a_module_that_has_gone_keeps_its_figures(runtime: Runtime) -> None:
    runtime.registry.unregister("test.plain.echo")
    assert data("usage", "test.plain.echo")["call_count"] == 4
    assert data("usage", "test.plain.echo", "--caller-type", "agent")["call_count"] == 0


def test_errors_are_told(runtime: Runtime) -> None:
    text = run("errors")[0]
    assert "SCHEMA_VALIDATION_ERROR" in text
    assert re.search(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  ", text, re.MULTILINE)
    [told] = data("errors", "test.plain.echo")
    assert (told["count"], told["module_id"]) == (1, "test.plain.echo")
    assert data("errors", "test.groups.create") == []


@pytest.mark.django_db(databases=["default", "other"], transaction=True)
def test_old_hours_are_merged(runtime: Runtime) -> None:
    runtime.app.usage.flush()
    assert data("usage", "--prune") == {"pruned": 0}
    assert "0 rows" in run("usage", "--prune")[0]
