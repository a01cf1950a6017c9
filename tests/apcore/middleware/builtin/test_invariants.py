"""A plain listener that notices what cannot happen."""

import asyncio
import logging
import threading
from typing import Any

import pytest

from apcore import Context, Registry, build_app, module
from apcore.app import App
from apcore.errors import MiddlewareChainError, ModuleError
from apcore.events import core_event
from apcore.events.invariants import InvariantError
from apcore.middleware.builtin.invariants import InvariantsMiddleware


@module(id="m.leaf")
def leaf(fail: bool = False) -> dict[str, Any]:
    """Do something"""
    if fail:
        raise ValueError
    return {"done": True}


@module(id="m.root")
def root(times: int, fail: bool, context: Context) -> dict[str, Any]:
    """Call another module"""
    for _ in range(times):
        context.executor.call("m.leaf", {}, context)
    if fail:
        try:
            context.executor.call("m.leaf", {"fail": True}, context)
        except ModuleError:
            return {"failed": True}
    return {"done": True}


@module(id="m.fan")
async def fan(times: int, context: Context) -> dict[str, Any]:
    """Call another module many times at once"""
    calls = [context.executor.call_async("m.leaf", {}, context) for _ in range(times)]
    return {"done": len(await asyncio.gather(*calls))}


@module(id="m.slow")
async def slow() -> dict[str, Any]:
    """Take for ever"""
    await asyncio.sleep(60)
    return {}


@module(id="m.forgetful")
async def forgetful(context: Context) -> dict[str, Any]:
    """Leave a call behind that is still running"""
    left.append(asyncio.ensure_future(context.executor.call_async("m.slow", {}, context)))
    await asyncio.sleep(0.05)
    return {}


left: list[Any] = []


@pytest.fixture(autouse=True)
def invariants_hold() -> None:
    """Here they are broken on purpose."""


@pytest.fixture
def app() -> App:
    registry = Registry()
    for name, each in {"leaf": leaf, "root": root, "fan": fan, "slow": slow, "forgetful": forgetful}.items():
        registry.register(f"m.{name}", each)
    return build_app(registry=registry)


@pytest.fixture
def watched(app: App) -> App:
    listener = InvariantsMiddleware(raising=True)
    app.executor.use(listener)
    app.events.subscribe(listener)
    return app


@pytest.fixture
def complaints(caplog: pytest.LogCaptureFixture) -> Any:
    return lambda: [each.getMessage() for each in caplog.records if each.name == "apcore.invariants"]


def test_calls_as_they_are_break_nothing(watched: App, complaints: Any) -> None:
    assert watched.executor.call("m.root", {"times": 3, "fail": True}) == {"failed": True}
    with pytest.raises(ModuleError):
        watched.executor.call("m.leaf", {"fail": True})
    assert asyncio.run(watched.executor.call_async("m.fan", {"times": 20})) == {"done": 20}
    assert complaints() == []


def test_nor_do_calls_of_many_threads(watched: App, complaints: Any) -> None:
    threads = [
        threading.Thread(target=watched.executor.call, args=("m.root", {"times": 20, "fail": False})) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert complaints() == []


def test_nor_do_calls_with_one_context_one_after_the_other(watched: App, complaints: Any) -> None:
    context = Context.create()
    for _ in range(3):
        watched.executor.call("m.root", {"times": 1, "fail": False}, context)
    assert complaints() == []
    assert not [key for key in context.data if "invariants" in key]


def test_a_middleware_that_fails_afterwards_breaks_nothing(watched: App, complaints: Any) -> None:
    class Failing:
        def after(self, *args: Any) -> None:
            raise ValueError

    watched.executor.use(Failing())
    with pytest.raises(MiddlewareChainError):
        watched.executor.call("m.leaf", {})
    assert complaints() == []


def test_a_middleware_that_answers_errors_breaks_nothing(watched: App, complaints: Any) -> None:
    class Mending:
        def on_error(self, *args: Any) -> dict[str, Any]:
            return {"mended": True}

    watched.executor.use(Mending())
    assert watched.executor.call("m.leaf", {"fail": True}) == {"mended": True}
    assert complaints() == []


def test_a_cancelled_call_breaks_nothing(watched: App, complaints: Any) -> None:
    async def run() -> None:
        call = asyncio.create_task(watched.executor.call_async("m.slow", {}))
        await asyncio.sleep(0.05)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(run())
    watched.executor.call("m.leaf", {})
    assert complaints() == []


@pytest.mark.req("RV-11")
def test_a_call_that_outlives_its_caller_is_a_violation(watched: App, complaints: Any) -> None:
    async def run() -> None:
        with pytest.raises(MiddlewareChainError) as caught:
            await watched.executor.call_async("m.forgetful", {})
        assert isinstance(caught.value.__cause__, InvariantError)
        left.pop().cancel()

    asyncio.run(run())
    assert "Invariant violated: m.forgetful ends before m.slow, which it called" in complaints()


@pytest.mark.req("RV-12")
def test_a_second_result_is_a_violation(app: App, complaints: Any) -> None:
    listener = InvariantsMiddleware()
    app.executor.use(listener)

    class Meddling:
        priority = 1

        def after(self, module_id: str, inputs: Any, output: Any, context: Context) -> None:
            listener.after(module_id, inputs, output, context)

    app.executor.use(Meddling())
    app.executor.call("m.leaf", {})
    assert complaints() == ["Invariant violated: m.leaf has a result without having started"]


@pytest.mark.req("RV-13")
def test_an_impossible_event_is_logged_and_disturbs_nobody(watched: App, complaints: Any) -> None:
    for state in ("completed", "started"):
        watched.events.emit(core_event(f"apcore.task.{state}", {"module_id": "m.leaf", "task_id": "t"}))
    assert complaints() == ["Invariant violated: apcore.task.started cannot follow completed (of t)"]


@pytest.mark.req("RV-14")
def test_nothing_is_watched_unless_somebody_asks_for_it(app: App, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    context = Context.create()
    app.executor.call("m.root", {"times": 1, "fail": False}, context)
    assert not app.events.has_subscribers
    assert not [key for key in context.data if "invariants" in key]


def test_a_rehearsal_is_no_call(watched: App, complaints: Any) -> None:
    context = Context.create().rehearsal()
    watched.executor.call("m.root", {"times": 1, "fail": False}, context)
    assert complaints() == []


def test_nothing_is_kept_of_calls_that_are_over(app: App) -> None:
    listener = InvariantsMiddleware()
    app.executor.use(listener)
    app.executor.call("m.root", {"times": 3, "fail": True})
    asyncio.run(app.executor.call_async("m.fan", {"times": 5}))
    assert not listener._sessions
    assert not listener._checker._sessions
