"""Errors as answers."""

import inspect
import pkgutil
import re
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.test import Client

import django_apcore
from apcore.errors import ErrorFormatterRegistry, ModuleExecuteError, format_error
from django_apcore.api.errors import ADAPTER, RestErrorFormatter, register_error_formatter


@pytest.mark.req("R-8.8.4-02")
def test_the_formatter_of_this_package_is_registered_once_when_django_starts() -> None:
    registered = ErrorFormatterRegistry.get("django")
    assert isinstance(registered, RestErrorFormatter)
    register_error_formatter()
    assert ErrorFormatterRegistry.get("django") is registered


@pytest.mark.req("R-8.8.4-02")
def test_an_error_names_its_own_trace_or_that_of_the_request() -> None:
    request = SimpleNamespace(trace_id="a" * 32)
    assert format_error(ModuleExecuteError("No"), ADAPTER, request)["trace_id"] == "a" * 32
    own = ModuleExecuteError("No", trace_id="b" * 32)
    assert format_error(own, ADAPTER, request) == own.to_dict()


def test_an_answer_is_what_the_formatter_made(client: Client, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    class Short:
        def format(self, error: ModuleExecuteError, context: object) -> dict[str, str]:
            return {"short": error.code}

    monkeypatch.setattr(ErrorFormatterRegistry, "_formatters", {"django": Short()})
    assert client.get("/api/apcore/modules/").json() == {"short": "REQUEST_UNAUTHENTICATED"}


@pytest.mark.req("R-12.2-38")
def test_public_functions_and_methods_are_named_as_in_the_core() -> None:
    names = {
        f"{name}.{member}"
        for _, name, _ in pkgutil.walk_packages(django_apcore.__path__, "django_apcore.")
        if ".migrations" not in name
        for member, found in vars(import_module(name)).items()
        if inspect.isfunction(found) and found.__module__ == name
    }
    assert len(names) > 100
    assert {name for name in names if not re.fullmatch(r"[a-z_0-9]+", name.rpartition(".")[2])} == set()
