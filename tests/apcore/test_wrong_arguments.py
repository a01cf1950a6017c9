"""Whatever the public names are handed by mistake is refused in words, not by a crash further in."""

from __future__ import annotations

from typing import Any

import pytest

import apcore
from apcore.errors import ModuleError
from apcore.registry import Registry

REFUSING: dict[str, dict[str, list[Any]]] = {
    "build_app": {
        "registry": [5, Registry],
        "middlewares": [5, "abc"],
        "acl": [5, {}],
        "approval_handler": [5, object()],
        "config": [5, "apcore.yaml"],
        "runners": [None, 5],
        "events": [5],
        "usage": [5],
        "error_history": [5],
        "observability": [5],
        "middleware": [5, {}],
        "extensions": [5, {"acl": 5}],
    },
    "Config": {"data": [5, "apcore.yaml", [1]]},
    "EventEmitter": {"sensitive_keys": [None, 5, "password"]},
    "ErrorHistory": {"limits": [5], "flusher": [5], "clock": [None, 5]},
    "UsageCollector": {"settings": [5], "flusher": [5], "clock": [None, 5]},
    "TracingProvider": {"settings": [5, {}]},
    "IdMap": {"overrides": [None, 5, "x"]},
    "IdMap.from_dict": {"section": [None, 5]},
    "MemoryOverridesStore": {"values": [5, "x"]},
    "SchemaLoader": {"schemas_dir": [None, 5]},
    "SchemaLoader.from_settings": {"settings": [None, 5]},
    "EffectRecord.from_dict": {"data": [None, 5, {}]},
    "apply_extensions": {"manager": [None, 5]},
    "load_extensions": {"extension_points": [5, {"acl": 5}]},
    "call_for_model": {"executor": [None, 5, apcore.Executor]},
    "safe_unregister": {"registry": [None, 5]},
    "Context.create": {"identity": ["ada"], "data": [[1]]},
    "CallbackApprovalHandler": {"callback": [None, 5]},
    "SysModulesSettings.read": {"settings": [None, 5]},
    "ACL": {"rules": [None, 5], "audit": [5]},
}
NEEDED = {
    "apply_extensions": {"registry": Registry()},
    "load_extensions": {"config": None},
    "call_for_model": {"module_id": "a.b"},
    "safe_unregister": {"module_id": "a.b"},
}


def _named(name: str) -> Any:
    found: Any = apcore
    for part in name.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.req("R-8.7-03")
@pytest.mark.parametrize(
    ("name", "argument", "wrong"),
    [
        (name, argument, wrong)
        for name, arguments in REFUSING.items()
        for argument, values in arguments.items()
        for wrong in values
    ],
)
def test_an_argument_of_another_type_is_refused_in_words(name: str, argument: str, wrong: Any) -> None:
    with pytest.raises(ModuleError):
        _named(name)(**{**NEEDED.get(name, {}), argument: wrong})


@pytest.mark.parametrize("data", [None, 5, [], "x", {}, {"changes": None}, {"changes": "x"}, {"changes": [5]}])
def test_what_is_no_written_preview_is_refused_in_words(data: Any) -> None:
    with pytest.raises(TypeError, match=r"mapping|list"):
        apcore.PreviewResult.from_dict(data)


@pytest.mark.parametrize("make", [apcore.PreviewResult, apcore.Plan])
@pytest.mark.parametrize("changes", [None, 5, "x", {}, [5]])
def test_changes_are_a_list_of_changes(make: Any, changes: Any) -> None:
    with pytest.raises(TypeError, match="Change"):
        make(changes)
