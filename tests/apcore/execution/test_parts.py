"""What an executor can be made of, and what is refused in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from apcore.acl import ACL
from apcore.approval import ApprovalResult, AutoApproveHandler
from apcore.config import Config
from apcore.errors import ACLDeniedError, ACLRuleError, ApprovalDeniedError, ConfigError, InvalidInputError
from apcore.execution import Executor, ExecutorSettings
from apcore.modules import module
from apcore.pipeline import Step
from apcore.registry import Registry


class _OnlyAsks:
    def request_approval(self, request: Any) -> ApprovalResult:
        return ApprovalResult("approved")


WRONG: dict[str, list[Any]] = {
    "registry": [None, "x", {}, Registry],
    "middlewares": [3, "abc", [object()]],
    "acl": [5, "rules", [], {}, ACL],
    "approval_handler": [5, object(), AutoApproveHandler, lambda request: None],
    "toggles": [5, {"a.b": False}],
    "events": [5, print],
    "runners": [5, (), (None, None)],
    "sensitive_keys": [5, "password", [5]],
}


@pytest.mark.req("R-8.7-03")
@pytest.mark.parametrize(("part", "wrong"), [(part, each) for part, values in WRONG.items() for each in values])
def test_a_part_of_another_type_is_refused_where_it_comes_in(part: str, wrong: Any) -> None:
    with pytest.raises(InvalidInputError):
        Executor(**{"registry": Registry(), part: wrong})


@pytest.mark.parametrize("wrong", [5, "x", {"nope": 1}, {"max_call_depth": "x"}])
def test_limits_of_another_form_are_refused(wrong: Any) -> None:
    with pytest.raises(ConfigError):
        Executor(Registry(), config=wrong)


def test_what_replaces_a_part_is_looked_at_as_well(executor: Executor) -> None:
    replacements: list[tuple[Any, Any]] = [
        (executor.use_acl, []),
        (executor.use_approval_handler, object()),
        (executor.add_rewriter, None),
        (executor.add_rewriter, str),
        (executor.use_strategy, None),
        (executor.use_strategy, []),
    ]
    for replace, wrong in replacements:
        with pytest.raises(InvalidInputError):
            replace(wrong)
    assert executor.call("math.add", {"a": 1, "b": 2}) == {"sum": 3}


@pytest.mark.parametrize(
    "fields", [{"pure": 5}, {"ignore_errors": "no"}, {"before": print}, {"before": 5}, {"after": "x"}, {"after": [5]}]
)
def test_a_step_with_a_field_of_another_type_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="audit"):
        Step("audit", print, **fields)


@pytest.mark.req("R-5.16-07")
@pytest.mark.parametrize("predicate", ["execute", 5])
def test_a_predicate_that_is_no_function_is_refused_in_words(executor: Executor, predicate: Any) -> None:
    with pytest.raises(InvalidInputError, match="run_until must be a function of the state"):
        executor.call("math.add", {"a": 1, "b": 2}, run_until=predicate)


def test_who_is_told_the_output_is_a_function(executor: Executor) -> None:
    with pytest.raises(InvalidInputError, match="on_result must be a function"):
        list(executor.stream_sync("math.add", {"a": 1, "b": 2}, on_result=5))  # type: ignore[arg-type]  # what is wrong here


@pytest.mark.req("R-7.2-03")
def test_a_handler_that_only_asks_is_one_and_resumes_nothing() -> None:
    @module(id="m.x", annotations={"requires_approval": True})
    def needs_one() -> dict[str, Any]:
        """Need an approval"""
        return {}

    registry = Registry()
    registry.register("m.x", needs_one)
    executor = Executor(registry, approval_handler=_OnlyAsks())  # type: ignore[arg-type]  # it cannot check

    assert executor.call("m.x") == {}
    with pytest.raises(ApprovalDeniedError, match="keeps no pending requests"):
        executor.call("m.x", {"_approval_token": "t"})


# A whole configuration (C-64)


def _config(**sections: Any) -> Config:
    return Config.from_dict({"version": "1.0.0", "project": {"name": "x"}, **sections})


def test_an_executor_built_from_a_configuration_has_its_limits_and_denies_by_default(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    executor = Executor(registry, config=_config(executor={"max_call_depth": 7}))

    assert executor.settings == ExecutorSettings(max_call_depth=7)
    with pytest.raises(ACLDeniedError):
        executor.call("math.add", {"a": 1, "b": 2})


def test_the_access_list_of_a_configuration_counts_unless_another_is_given(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "acl.yaml").write_text("rules: [{callers: ['@external'], targets: ['math.*'], effect: allow}]")
    config = _config(acl={"root": str(tmp_path)})

    assert Executor(registry, config=config).call("math.add", {"a": 1, "b": 2}) == {"sum": 3}
    with pytest.raises(ACLDeniedError):
        Executor(registry, config=config, acl=ACL()).call("math.add", {"a": 1, "b": 2})

    (tmp_path / "acl.yaml").write_text("rules: [")
    with pytest.raises(ACLRuleError):
        Executor(registry, config=config)
