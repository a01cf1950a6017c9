from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.context import Context
from apcore.errors import InternalError, InvalidInputError, MiddlewareChainError, ModuleError, ModuleTimeoutError
from apcore.execution import drive
from apcore.middleware import Middleware, MiddlewareManager, Passage
from apcore.pipeline import settled


class Alone:
    """Stands for a runner: runs hooks where it is."""

    async def call_within(self, deadline: Any, context: Context, hook: Any, /, *arguments: Any) -> Any:
        result = hook(*arguments)
        return await result if hasattr(result, "__await__") else result


class Layer(Middleware):
    def __init__(self, name: str, log: list[str], **returns: Any) -> None:
        self.name, self.log, self.returns = name, log, returns

    def _act(self, hook: str) -> Any:
        self.log.append(f"{self.name}.{hook}")
        value = self.returns.get(hook)
        if isinstance(value, BaseException):
            raise value
        return value

    def before(self, *_: Any) -> Any:
        return self._act("before")

    def after(self, *_: Any) -> Any:
        return self._act("after")

    def on_error(self, *_: Any) -> Any:
        return self._act("on_error")


async def in_and_out(way: Passage) -> None:
    await way.before({}, Alone())
    await way.after({}, Alone())


def passage(*layers: Any) -> Passage:
    chain = MiddlewareManager()
    for layer in layers:
        chain.add(layer)
    return Passage(chain.onion, "m.one", Context.create())


@pytest.mark.req("R-11.1-04", "R-11.2-04", "R-11.2-05", "R-12.2-33")
@given(st.lists(st.integers(0, 1000), max_size=8))
def test_higher_priorities_are_further_out_and_ties_keep_their_order(priorities: list[int]) -> None:
    log: list[str] = []
    chain = MiddlewareManager()
    for index, priority in enumerate(priorities):
        chain.add(Layer(f"{priority}/{index}", log), priority=priority)
    way = Passage(chain.onion, "m.one", Context.create())
    drive(settled(way.before({}, Alone())))
    expected = [f"{p}/{i}" for i, p in sorted(enumerate(priorities), key=lambda pair: (-pair[1], pair[0]))]
    assert log == [f"{name}.before" for name in expected]
    log.clear()
    drive(settled(way.after({}, Alone())))
    assert log == [f"{name}.after" for name in reversed(expected)]


@pytest.mark.req("R-11.2-03")
@pytest.mark.parametrize("bad", [-1, 1001, 1.5, "high"])
def test_priorities_outside_the_range_are_refused(bad: Any) -> None:
    with pytest.raises(InvalidInputError, match="0 to 1000"):
        MiddlewareManager().add(Middleware(), priority=bad)


def test_an_object_without_hooks_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="before"):
        MiddlewareManager().add(object())


@pytest.mark.req("R-11.5-02", "R-11.8.2-01", "R-11.8.2-02")
def test_before_replaces_the_inputs_whole_or_leaves_them() -> None:
    log: list[str] = []
    assert drive(passage(Layer("a", log)).before({"x": 1, "y": 2}, Alone())) == {"x": 1, "y": 2}
    assert drive(passage(Layer("a", log, before={"x": 3})).before({"x": 1, "y": 2}, Alone())) == {"x": 3}


@pytest.mark.req("R-11.8.2-03")
@pytest.mark.parametrize("hook", ["before", "after"])
def test_a_hook_that_returns_no_dict_is_an_error(hook: str) -> None:
    way = passage(Layer("a", [], **{hook: [1]}))
    with pytest.raises(InternalError):
        drive(in_and_out(way))


@pytest.mark.req("R-11.8.3-01", "R-11.8.3-02", "R-11.5-04")
def test_after_replaces_the_output_whole_or_leaves_it() -> None:
    output = {"r": 1}
    way = passage(Layer("a", []))
    drive(way.before({}, Alone()))
    assert drive(way.after(output, Alone())) is output
    way = passage(Layer("a", [], after={"s": 2}))
    drive(way.before({}, Alone()))
    assert drive(way.after(output, Alone())) == {"s": 2}


@pytest.mark.req("R-11.5-03", "R-11.5-05", "R-11.8.2-04")
def test_only_entered_layers_see_the_error_the_failing_one_included() -> None:
    log: list[str] = []
    error = ModuleError("stop", code="STOP")
    way = passage(Layer("a", log), Layer("b", log, before=error), Layer("c", log))
    with pytest.raises(ModuleError, match="stop"):
        drive(way.before({}, Alone()))
    assert drive(way.recover(error, Alone())) is None
    assert log == ["a.before", "b.before", "b.on_error", "a.on_error"]


@pytest.mark.req("R-11.8.2-05")
@pytest.mark.parametrize("hook", ["before", "after"])
def test_a_foreign_exception_is_a_chain_error_without_its_text(hook: str) -> None:
    way = passage(Layer("a", [], **{hook: ValueError("password=hunter2")}))
    with pytest.raises(MiddlewareChainError) as caught:
        drive(in_and_out(way))
    assert isinstance(caught.value.cause, ValueError)
    assert "hunter2" not in str(caught.value.to_dict())


@pytest.mark.req("R-11.5-06", "R-11.8.1-02", "R-11.8.1-05")
@pytest.mark.parametrize("fallback", [{"ok": True}, {}])
def test_the_innermost_fallback_wins_and_ends_the_chain(fallback: Any) -> None:
    log: list[str] = []
    way = passage(Layer("a", log), Layer("b", log, on_error=fallback))
    drive(way.before({}, Alone()))
    assert drive(way.recover(ModuleError("x"), Alone())) is fallback
    assert "a.on_error" not in log


@pytest.mark.req("R-11.8.1-01")
def test_an_on_error_that_fails_is_logged_and_the_next_one_runs(caplog: pytest.LogCaptureFixture) -> None:
    way = passage(Layer("a", [], on_error={"saved": 1}), Layer("b", [], on_error=RuntimeError("secret")))
    drive(way.before({}, Alone()))
    assert drive(way.recover(ModuleError("x"), Alone())) == {"saved": 1}
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert "secret" not in caplog.text


@pytest.mark.req("R-11.8.4-04")
def test_an_on_error_that_times_out_stops_the_chain(caplog: pytest.LogCaptureFixture) -> None:
    way = passage(Layer("a", [], on_error={"saved": 1}), Layer("b", [], on_error=ModuleTimeoutError("late")))
    drive(way.before({}, Alone()))
    assert drive(way.recover(ModuleTimeoutError("first"), Alone())) is None
    assert caplog.records[0].levelno == logging.ERROR


def test_a_running_call_keeps_the_layers_that_it_started_with() -> None:
    log: list[str] = []
    chain = MiddlewareManager()
    chain.add(Layer("a", log))
    way = Passage(chain.onion, "m.one", Context.create())
    chain.add(Layer("b", log), priority=900)
    drive(way.before({}, Alone()))
    assert log == ["a.before"]
