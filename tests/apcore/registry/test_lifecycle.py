import threading

import pytest

from apcore.context import Context
from apcore.errors import ModuleLoadError, ModuleNotFoundError
from apcore.execution import Executor
from apcore.modules import module
from apcore.registry import Registry


class Recorder:
    description = "Notes what happens to it"
    input_schema = {"type": "object"}
    output_schema = {"type": "object"}

    def __init__(self):
        self.calls = []

    def execute(self, inputs, context):
        return {}


@pytest.mark.req("R-5.15.3-01")
def test_a_failing_on_load_stops_the_registration_and_keeps_its_cause():
    class Broken(Recorder):
        def on_load(self):
            raise ValueError("no connection")

    registry = Registry()
    with pytest.raises(ModuleLoadError, match="on_load") as caught:
        registry.register("a.b", Broken)
    assert isinstance(caught.value.cause, ValueError)
    assert not registry.has_module("a.b")


@pytest.mark.parametrize("name", ["on_load", "on_unload", "on_suspend", "on_resume"])
def test_an_async_hook_is_refused_because_nobody_would_await_it(name):
    async def later(self, state=None): ...

    registry = Registry()
    with pytest.raises(ModuleLoadError, match=rf"{name}\(\) of module 'a\.b' is async"):
        registry.register("a.b", type("Later", (Recorder,), {name: later}))
    assert not registry.has("a.b")


@pytest.mark.req("R-5.15.3-02")
def test_a_failing_on_unload_is_logged_and_the_module_goes(caplog):
    class Broken(Recorder):
        def on_unload(self):
            raise ValueError("stuck")

    registry = Registry()
    registry.register("a.b", Broken)
    assert registry.unregister("a.b") is True
    assert not registry.has("a.b")
    assert [record.levelname for record in caplog.records] == ["ERROR"]


@pytest.mark.req("R-5.6-10")
def test_on_load_is_called_once_with_nothing_or_with_a_context():
    class Without(Recorder):
        def on_load(self):
            self.calls.append("on_load")

    class With(Recorder):
        def on_load(self, context):
            self.calls.append(type(context))

    class Optional(Recorder):
        def on_load(self, context=None, *more, **options):
            self.calls.append(context)

    registry = Registry()
    for name, hooked, expected in (("a", Without, "on_load"), ("b", With, Context), ("c", Optional, None)):
        registry.register(name, hooked)
        assert registry.get(name).calls == [expected]


@pytest.mark.req("R-5.15.3-03")
def test_a_call_while_a_module_still_loads_does_not_find_it():
    loading, finish = threading.Event(), threading.Event()

    class Slow(Recorder):
        def on_load(self):
            loading.set()
            assert finish.wait(10)

    registry = Registry()
    executor = Executor(registry)
    other = threading.Thread(target=registry.register, args=("a.b", Slow))
    other.start()
    try:
        assert loading.wait(10)
        with pytest.raises(ModuleNotFoundError):
            executor.call("a.b")
    finally:
        finish.set()
        other.join()
    assert executor.call("a.b") == {}


@pytest.mark.req("R-5.15.3-03")
def test_hooks_run_when_the_module_can_not_yet_and_no_longer_be_found():
    registry = Registry()

    class Curious(Recorder):
        def on_load(self):
            self.calls.append(registry.has("a.b"))

        on_unload = on_load

    module = Curious()
    registry.register("a.b", module)
    registry.unregister("a.b")
    assert module.calls == [False, False]


def test_a_hook_that_is_no_function_is_ignored():
    class Odd(Recorder):
        on_load = on_unload = "later"

    registry = Registry()
    registry.register("a.b", Odd)
    registry.unregister("a.b")


@pytest.mark.req("R-14.E-01")
def test_a_function_has_no_hooks():
    def add(a: int) -> dict:
        return {}

    add.on_load = add.on_unload = lambda: pytest.fail("called")
    registry = Registry()
    registry.register("a.b", module(add, id="a.b"))
    registry.unregister("a.b")
