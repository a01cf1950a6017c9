from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pytest

from apcore.errors import ConfigError, InvalidInputError
from apcore.middleware import Middleware
from apcore.middleware.builtin.circuit_breaker import CircuitBreakerMiddleware
from apcore.middleware.builtin.retry import RetryMiddleware
from apcore.middleware.configuration import MiddlewareSettings

HERE = f"{__name__}."


class Custom(Middleware):
    def __init__(self, *, level: str = "info", count: int = 1) -> None:
        if count < 0:
            raise ValueError("count must not be negative")
        if level == "never":
            raise InvalidInputError("never is no level")
        self.level, self.count = level, count


class Named(Middleware):
    id = "named"
    priority = 300


class NoHooks:
    pass


class BadPriority(Middleware):
    priority = 2_000


NOT_A_CLASS = 5


@pytest.mark.req("R-11.2-01")
def test_the_sample_of_the_specification_loads() -> None:
    settings = MiddlewareSettings.read(
        [
            {
                "id": "logging",
                "class": "apcore.middleware.LoggingMiddleware",
                "priority": 100,
                "config": {"level": "info"},
            },
            {"id": "tracing", "class": "apcore.middleware.TracingMiddleware", "priority": 90},
            {"id": "custom", "class": f"{HERE}Custom", "priority": 50},
        ]
    )
    assert [(each.id, each.priority) for each in settings.entries] == [
        ("logging", 100),
        ("tracing", 90),
        ("custom", 50),
    ]
    assert isinstance(settings.entries[2].middleware, Custom)
    assert settings.entries[0].config == {"level": "info"}


@pytest.mark.req("R-11.2-01")
def test_both_shapes_and_short_forms_are_read() -> None:
    settings = MiddlewareSettings.read(
        {
            "disabled": ["metrics"],
            "entries": [
                f"{HERE}Named",
                {"id": "retry", "config": {"max_retries": 1}},
                {"id": "circuit_breaker"},
                {"class": f"{HERE}Custom", "config": {"level": "debug", "count": 3}},
            ],
        }
    )
    assert settings.disabled == {"metrics"}
    named, retry, breaker, custom = (each.middleware for each in settings.entries)
    assert isinstance(named, Named)
    assert isinstance(retry, RetryMiddleware)
    assert isinstance(breaker, CircuitBreakerMiddleware)
    assert (custom.level, custom.count) == ("debug", 3)
    assert MiddlewareSettings.read(None) == MiddlewareSettings()


@pytest.mark.parametrize(
    ("entry", "place", "text"),
    [
        (5, "middleware[0]", "class path"),
        ("custom", "middleware[0].class", "dotted path"),
        ("no_such_package.Thing", "middleware[0].class", "no module 'no_such_package'"),
        (f"{HERE}Absent", "middleware[0].class", "has no 'Absent'"),
        (f"{HERE}NOT_A_CLASS", "middleware[0].class", "neither a class nor a function"),
        (f"{HERE}NoHooks", "middleware[0].class", "none of before(), after(), on_error()"),
        (f"{HERE}BadPriority", "middleware[0].class", "0 to 1000"),
        ({"class": f"{HERE}Custom", "prio": 5}, "middleware[0]", "no key 'prio'"),
        ({"id": "own"}, "middleware[0]", "needs a class"),
        ({"id": "two words", "class": f"{HERE}Custom"}, "middleware[0].id", "letter"),
        ({"class": f"{HERE}Custom", "priority": 1_001}, "middleware[0].priority", "0 to 1000"),
        ({"class": f"{HERE}Custom", "priority": True}, "middleware[0].priority", "0 to 1000"),
        ({"class": f"{HERE}Custom", "config": {"levle": "x"}}, "middleware[0].config", "level, count"),
        ({"class": f"{HERE}Custom", "config": ["level"]}, "middleware[0].config", "object"),
        ({"class": f"{HERE}Custom", "config": {"count": -1}}, "middleware[0].config", "negative"),
        ({"class": f"{HERE}Custom", "config": {"level": "never"}}, "middleware[0].config", "no level"),
        ({"id": "retry", "config": {"max_retries": 6}}, "middleware[0].config", "1 to 5"),
        ({"id": "acl_check", "class": f"{HERE}Custom"}, "middleware[0].id", "pipeline step"),
    ],
)
def test_every_mistake_says_where_it_is_and_what(entry: Any, place: str, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        MiddlewareSettings.read([entry])
    assert caught.value.message.startswith(place)
    assert text in caught.value.message


@pytest.mark.req("R-11.4-01")
@pytest.mark.parametrize("name", ["acl_check", "schema_validation"])
def test_what_is_required_cannot_be_disabled(name: str) -> None:
    with pytest.raises(ConfigError, match="neither disabled nor replaced"):
        MiddlewareSettings.read({"disabled": [name]})


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        MiddlewareSettings.read({"disable": [], "disabled": ["acl_check", 3], "entries": ["x", {"id": "y"}]})
    assert len(caught.value.details["errors"]) == 5


@pytest.mark.parametrize("section", [{"disabled": "metrics"}, {"entries": {"id": "x"}}, "logging", 5])
def test_what_should_be_a_list_is_one(section: Any) -> None:
    with pytest.raises(ConfigError, match="must be a list"):
        MiddlewareSettings.read(section)


@pytest.mark.parametrize(
    "entries",
    [
        [f"{HERE}Named", f"{HERE}Named"],
        [{"id": "a", "class": f"{HERE}Custom"}, {"id": "a", "class": f"{HERE}Named"}],
        [{"id": "named", "class": f"{HERE}Custom"}, f"{HERE}Named"],
    ],
)
def test_an_id_is_used_once(entries: Any) -> None:
    with pytest.raises(ConfigError, match="already"):
        MiddlewareSettings.read(entries)


def test_an_import_that_fails_inside_of_a_module_says_so(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_middleware_file.py").write_text("import a_package_that_nobody_has\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConfigError, match="a_package_that_nobody_has"):
        MiddlewareSettings.read(["broken_middleware_file.Thing"])


class Remote(Middleware):
    """Its constructor repeats what it was given."""

    def __init__(self, *, password: str, url: str = "", kind: type[Exception] | str = "") -> None:
        kinds = {"value": ValueError, "runtime": RuntimeError, "key": KeyError, "module": InvalidInputError}
        raise kinds[str(kind)](f"no access with {password} at {url}")


@pytest.mark.parametrize("kind", ["value", "runtime", "key", "module"])
def test_whatever_a_constructor_raises_is_told_with_its_place_and_without_secrets(kind: str) -> None:
    config = {"password": "hunter2", "url": "https://me:hunter3@host/", "kind": kind}
    with pytest.raises(ConfigError, match=r"middleware\[0\]\.config: .*no access with") as caught:
        MiddlewareSettings.read([{"class": f"{HERE}Remote", "config": config}])
    shown = "".join(traceback.format_exception(caught.value))
    assert "hunter" not in f"{shown} {caught.value.details}"


@pytest.mark.parametrize("config", ["hunter2", ["hunter2"]])
def test_a_configuration_of_another_type_is_not_shown(config: Any) -> None:
    for entry in ({"class": f"{HERE}Custom", "config": config}, {"id": "logging", "config": config}):
        with pytest.raises(ConfigError, match="must be an object") as caught:
            MiddlewareSettings.read([entry])
        assert "hunter2" not in str(caught.value)


def test_a_module_that_fails_while_it_is_imported_is_named_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_middleware.py").write_text("raise RuntimeError('at import')")
    (tmp_path / "unreadable_middleware.py").write_text("def")
    monkeypatch.syspath_prepend(tmp_path)
    for name, kind in (("broken_middleware", "RuntimeError"), ("unreadable_middleware", "SyntaxError")):
        with pytest.raises(ConfigError, match=rf"middleware\[0\]\.class: .*{kind} in {name}"):
            MiddlewareSettings.read([f"{name}.Class"])
