"""Definitions that are admitted, and doubtful."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.core.checks import CheckMessage

from apcore import ModuleAnnotations, Registry, module
from django_apcore import runtime
from django_apcore.checks import check_definitions
from django_apcore.checks.definitions import doubts

APPROVED = ModuleAnnotations(requires_approval=True)


def work(order: int) -> dict[str, int]:
    """Do it."""
    return {"order": order}


async def work_async(order: int) -> bool:
    """Do it."""
    return True


def registry_of(function: Any = work, **options: Any) -> Registry:
    registry = Registry()
    registry.register("shop.work", module(function, id="shop.work", **options))
    return registry


def ids(messages: list[CheckMessage]) -> list[str]:
    return [str(message.id).removeprefix("django_apcore.") for message in messages]


@pytest.mark.parametrize(
    ("number", "options", "words"),
    [
        ("W008", {"annotations": APPROVED}, "how to undo it"),
        ("W009", {"function": work_async, "effect": "transactional"}, "coroutine"),
        ("W010", {"examples": [{"title": "Bad", "inputs": {}}]}, "'Bad', whose inputs"),
        ("W010", {"examples": [{"title": "Bad", "inputs": {"order": 1}, "output": {"order": "1"}}]}, "whose output"),
        ("W012", {"description": "x" * 201}, "description of more than 200"),
        ("W012", {"documentation": "x" * 5001}, "documentation of more than 5000"),
        ("W013", {"annotations": {"readonly": True, "destructive": True}}, "readonly and as destructive"),
        ("W014", {"metadata": {"x-required-context-keys": ["trace_id"]}}, "trace_id"),
    ],
)
def test_every_doubt_has_its_message(number: str, options: dict[str, Any], words: str) -> None:
    [message] = doubts(registry_of(**options))
    assert message.id == f"django_apcore.{number}"
    assert "'shop.work'" in message.msg
    assert words in message.msg
    assert message.hint


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"annotations": APPROVED, "effect": "transactional"},
        {"annotations": APPROVED, "metadata": {"x-compensation": "Call shop.undo."}},
        {"function": work_async},
        {"examples": [{"title": "Good", "inputs": {"order": 1}, "output": {"order": 1}}]},
        {"examples": [{"title": "Without an output", "inputs": {"order": 1}}]},
        {"description": "x" * 200, "documentation": "x" * 5000},
    ],
)
def test_nothing_is_doubted_without_reason(options: dict[str, Any]) -> None:
    assert doubts(registry_of(**options)) == []


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """Another registry in this process."""
    config = apps.get_app_config("django_apcore")
    registry = registry_of()
    monkeypatch.setattr(config, "registry", registry)
    monkeypatch.setattr(config, "notices", ())
    yield registry
    runtime.replace(None)


@pytest.mark.req("R-4.17-08")
def test_two_modules_with_one_name_as_a_tool_are_warned_of(registry: Registry) -> None:
    assert check_definitions(None) == []
    registry.register("shop_work", module(work, id="shop_work"))
    [message] = check_definitions(None)
    assert ids([message]) == ["W011"]
    assert "'shop.work' and 'shop_work'" in message.msg
    assert message.hint


def test_what_was_noticed_at_the_start_is_repeated(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apps.get_app_config("django_apcore"), "notices", ("'x.py' is skipped",))
    [message] = check_definitions(None)
    assert ids([message]) == ["W015"]
    assert "x.py" in message.msg
    assert message.hint
