import asyncio
import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from apcore import Executor, Registry, safe_unregister
from apcore.errors import InvalidInputError, ModuleExecuteError, ModuleNotFoundError


class Module:
    """Waits while it is told to, and writes down what happens to it."""

    description = "Waits"
    input_schema = output_schema = {"type": "object"}

    def __init__(self, state=None):
        self.events = []
        self.state = state
        self.started, self.go_on = threading.Event(), threading.Event()
        self.inside = self.most_inside = 0

    def on_load(self):
        self.events.append("load")

    def on_suspend(self):
        self.events.append("suspend")
        return self.state

    def on_unload(self):
        self.events.append("unload")

    def execute(self, inputs, context):
        self.started.set()
        assert self.go_on.wait(10)
        self.events.append("done")
        return {"done": True}


@pytest.fixture
def pool():
    with ThreadPoolExecutor(8) as pool:
        yield pool


def running(module, pool):
    """A registry and an executor with the module in it, inside of which is one call."""
    registry = Registry()
    registry.register("a.b", module)
    executor = Executor(registry)
    call = pool.submit(executor.call, "a.b", {})
    assert module.started.wait(10)
    return registry, executor, call


@pytest.mark.req("R-12.7.4-01", "R-12.7.4-02")
def test_the_module_goes_when_its_calls_have_ended_and_leaves_its_state(pool):
    module = Module({"count": 7})
    registry, executor, call = running(module, pool)
    seen = []
    registry.on("unregister", lambda module_id, module: seen.append((registry.has(module_id), module.events[:])))

    leaving = pool.submit(safe_unregister, "a.b", registry)
    while registry.has("a.b"):
        time.sleep(0.001)
    with pytest.raises(ModuleNotFoundError) as caught:
        executor.call("a.b", {})
    assert caught.value.code == "MODULE_NOT_FOUND"
    assert module.events == ["load"]
    module.go_on.set()

    assert leaving.result(10) == (True, {"count": 7})
    assert call.result(10) == {"done": True}
    assert module.events == ["load", "done", "suspend", "unload"]
    assert seen == [(True, ["load"])]


@pytest.mark.req("R-12.7.4-02")
def test_after_the_timeout_the_module_goes_by_force(pool, caplog):
    module = Module({"count": 7})
    registry, _executor, call = running(module, pool)

    assert safe_unregister("a.b", registry, timeout=0.05) == (False, None)

    assert module.events == ["load", "unload"]
    assert [(each.levelname, "a.b" in each.message) for each in caplog.records] == [("ERROR", True)]
    module.go_on.set()
    assert call.result(10) == {"done": True}


@pytest.mark.req("R-12.7.4-05", "R-12.7.1-04")
def test_who_comes_second_finds_nothing_to_do(pool):
    module = Module()
    registry = Registry()
    registry.register("a.b", module)
    barrier = threading.Barrier(8)

    def leave():
        barrier.wait()
        return registry.unregister("a.b")

    results = [each.result(10) for each in [pool.submit(leave) for _ in range(8)]]

    assert sorted(results) == [False] * 7 + [True]
    registry.close()
    assert module.events == ["load", "unload"]
    assert safe_unregister("a.b", registry) == (True, None)


def test_a_call_that_was_looked_up_before_does_not_start_afterwards():
    registry = Registry()
    module = Module()
    module.go_on.set()
    registry.register("a.b", module)
    executor = Executor(registry)
    executor.hook_step("acl_check", before=lambda state: registry.unregister("a.b"))

    with pytest.raises(ModuleNotFoundError, match="unloaded"):
        executor.call("a.b", {})

    assert module.events == ["load", "unload"]


def test_a_module_that_takes_itself_away_does_not_wait_for_itself(caplog):
    registry = Registry()

    class Selfish(Module):
        def execute(self, inputs, context):
            return {"gone": registry.unregister("a.b")}

    registry.register("a.b", Selfish)
    before = time.monotonic()

    assert Executor(registry).call("a.b", {}) == {"gone": True}
    assert time.monotonic() - before < 2
    assert "by force" in caplog.text


def test_calls_of_coroutines_are_waited_for_from_another_thread():
    registry = Registry()
    seen = []

    class Slow(Module):
        async def execute(self, inputs, context):
            self.started.set()
            await asyncio.sleep(0.1)
            seen.append("done")
            return {}

        def on_unload(self):
            seen.append("unload")

    registry.register("a.b", Slow)

    async def both():
        call = asyncio.create_task(Executor(registry).call_async("a.b", {}))
        await asyncio.to_thread(registry.get("a.b").started.wait, 10)
        await asyncio.to_thread(registry.unregister, "a.b")
        await call

    asyncio.run(both())
    assert seen == ["done", "unload"]


@pytest.mark.req("R-12.7.1-02", "R-12.7.4-04")
def test_one_of_many_registrations_wins_and_loads_once(pool):
    loads = []
    barrier = threading.Barrier(8)
    registry = Registry()

    class Counted(Module):
        def on_load(self):
            loads.append(self)

    def register():
        barrier.wait()
        return registry.register("a.b", Counted)

    futures = [pool.submit(register) for _ in range(8)]
    failed = [each.exception(10) for each in futures if each.exception(10)]

    assert len(failed) == 7
    assert {type(each) for each in failed} == {InvalidInputError}
    assert len(loads) == 1
    assert registry.get("a.b") is loads[0]


@pytest.mark.req("R-12.7.1-01", "R-12.7.1-02")
def test_concurrent_first_calls_share_one_instance_that_was_loaded_once():
    loads, instances = [], set()

    class Counted(Module):
        def on_load(self):
            loads.append(self)

        def execute(self, inputs, context):
            instances.add(id(self))
            return {}

    registry = Registry()
    registry.register("a.b", Counted)
    executor, barrier = Executor(registry), threading.Barrier(50)

    def call():
        barrier.wait()
        executor.call("a.b", {})

    with ThreadPoolExecutor(50) as many:
        for each in [many.submit(call) for _ in range(50)]:
            each.result(10)

    assert len(loads) == 1
    assert instances == {id(registry.get("a.b"))}
    assert registry.get("a.b") is registry.get("a.b")


@pytest.mark.req("R-12.7.1-03")
def test_calls_of_one_module_run_side_by_side(pool):
    """Each waits until the other one is inside too."""
    both = threading.Barrier(2)

    class Together(Module):
        def execute(self, inputs, context):
            both.wait(10)
            return {}

    registry = Registry()
    registry.register("a.b", Together)
    executor = Executor(registry)

    calls = [pool.submit(executor.call, "a.b", {}) for _ in range(2)]
    assert [each.result(10) for each in calls] == [{}, {}]


def test_nothing_is_left_inside_however_a_call_ends():
    class Failing(Module):
        def execute(self, inputs, context):
            raise ValueError("no")

    registry = Registry()
    definition = registry.register("a.b", Failing)
    for _ in range(3):
        with pytest.raises(ModuleExecuteError):
            Executor(registry).call("a.b", {})

    assert definition.activity == {}
    assert registry.unregister("a.b", timeout=0) is True


class Watched(Module):
    """Notes calls that are inside after it has gone."""

    def __init__(self):
        super().__init__()
        self.gone, self.late = False, []

    def execute(self, inputs, context):
        self.late += ["started late"] * self.gone
        time.sleep(0.0005)
        self.late += ["ended late"] * self.gone
        return {}

    def on_unload(self):
        self.gone = True


def test_a_race_of_calls_and_unregistering_leaves_no_call_inside_after_unload(pool):
    """Whoever got in is done before on_unload(), and who did not was refused."""
    for _ in range(30):
        registry, module = Registry(), Watched()
        registry.register("a.b", module)
        executor = Executor(registry)

        def call(executor=executor):
            with contextlib.suppress(ModuleNotFoundError):
                for _ in range(5):
                    executor.call("a.b", {})

        calls = [pool.submit(call) for _ in range(4)]
        assert registry.unregister("a.b") is True
        for each in calls:
            each.result(10)
        assert module.late == []
