import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from apcore import Executor, Registry
from apcore.errors import ExecutionCancelledError, InvalidInputError, ModuleNotFoundError, ReloadFailedError

MODULE = """
import builtins

EVENTS = builtins.apcore_test_events
EVENTS.append("{version} import")


class Counter:
    description = "Counts"
    input_schema = {{"type": "object"}}
    output_schema = {{"type": "object"}}
    version = "{version}.0.0"

    def __init__(self):
        EVENTS.append("{version} init")
        self.count = 0

    def on_load(self):
        EVENTS.append("{version} load")
        {load}

    def on_unload(self):
        EVENTS.append("{version} unload")

    {suspend}

    def on_resume(self, state):
        EVENTS.append(f"{version} resume {{state}}")
        {resume}

    def execute(self, inputs, context):
        self.count += 1
        return {{"version": "{version}", "count": self.count}}
"""
SUSPEND = """
    def on_suspend(self):
        EVENTS.append("1 suspend")
        return {}
"""


def source(version, *, suspend=None, load="pass", resume='self.count = state.get("count", 0)'):
    hook = "" if suspend is None else SUSPEND.format(suspend).strip()
    return MODULE.format(version=version, suspend=hook, load=load, resume=resume)


def wait_until(condition, seconds=10):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.002)
    return condition()


@pytest.fixture
def events(monkeypatch):
    """What the two versions of the module write down."""
    import builtins

    events = []
    monkeypatch.setattr(builtins, "apcore_test_events", events, raising=False)
    return events


@pytest.fixture
def loaded(project, write, events):
    """A registry with the first version of the module, which was called once."""

    def loaded(**options):
        write("extensions/counter.py", source(1, **options))
        registry = Registry()
        registry.discover()
        Executor(registry).call("counter", {})
        events.clear()
        return registry

    return loaded


@pytest.mark.req("R-12.7.3-02", "R-12.7.3-01", "R-5.6-11")
def test_the_state_moves_from_the_old_version_to_the_new_one(loaded, write, events):
    registry = loaded(suspend='{"count": self.count}')
    executor = Executor(registry)
    seen = []
    for event in ("register", "unregister"):
        registry.on(event, lambda module_id, module, event=event: seen.append((event, module.version)))

    write("extensions/counter.py", source(2))
    definition = registry.reload("counter")

    assert events == [
        "1 suspend",
        "1 unload",
        "2 import",
        "2 init",
        "2 load",
        "2 resume {'count': 1}",
    ]
    assert executor.call("counter", {}) == {"version": "2", "count": 2}
    assert registry.get_definition("counter") is definition
    assert definition.version == "2.0.0"
    assert seen == [("unregister", "1.0.0"), ("register", "2.0.0")]


@pytest.mark.req("R-12.7.3-06")
@pytest.mark.parametrize("suspend", [None, "None"])
def test_without_a_state_nothing_is_resumed(loaded, write, events, suspend):
    registry = loaded(suspend=suspend)

    write("extensions/counter.py", source(2))
    registry.reload("counter")

    assert not any("resume" in each for each in events)
    assert events[-1] == "2 load"


@pytest.mark.req("R-12.7.3-07")
def test_an_empty_state_is_a_state(loaded, write, events):
    registry = loaded(suspend="{}")

    write("extensions/counter.py", source(2))
    registry.reload("counter")

    assert events[-1] == "2 resume {}"


@pytest.mark.req("R-12.7.3-03", "R-12.7.3-04")
@pytest.mark.parametrize("suspend", ["{'lock': object()}", "[1]", "1 / 0", "{'x': float('nan')}"])
def test_a_state_that_cannot_be_kept_is_lost_and_the_reload_goes_on(loaded, write, events, caplog, suspend):
    registry = loaded(suspend=suspend)

    write("extensions/counter.py", source(2))
    registry.reload("counter")

    assert [each.levelname for each in caplog.records] == ["ERROR"]
    assert not any("resume" in each for each in events)
    assert Executor(registry).call("counter", {}) == {"version": "2", "count": 1}


@pytest.mark.req("R-12.7.3-05")
def test_a_failing_on_resume_is_logged_and_the_module_starts_afresh(loaded, write, caplog):
    registry = loaded(suspend="{'count': 5}")

    write("extensions/counter.py", source(2, resume="raise ValueError(state)"))
    registry.reload("counter")

    assert [each.levelname for each in caplog.records] == ["ERROR"]
    assert Executor(registry).call("counter", {}) == {"version": "2", "count": 1}


@pytest.mark.req("R-12.7.3-08")
@pytest.mark.parametrize(
    "text",
    [
        "1 / 0",
        "X = 1",
        source(2, load="raise ValueError()"),
        source(2).replace("execute", "run"),
        source(2) + "    @property\n    def tags(self):\n        raise KeyError('tags')\n",
    ],
)
def test_the_old_version_comes_back_with_its_state(loaded, write, events, text):
    registry = loaded(suspend="{'count': self.count}")
    first = registry.get("counter")

    write("extensions/counter.py", text)
    with pytest.raises(ReloadFailedError) as caught:
        registry.reload("counter")

    assert caught.value.code == "RELOAD_FAILED"
    assert (caught.value.http_status, caught.value.retryable) == (500, True)
    assert registry.get("counter") is first
    assert events[-2:] == ["1 load", "1 resume {'count': 1}"]
    assert Executor(registry).call("counter", {}) == {"version": "1", "count": 2}

    write("extensions/counter.py", source(3))
    registry.reload("counter")
    assert Executor(registry).call("counter", {}) == {"version": "3", "count": 3}


def test_the_metadata_file_is_read_again_and_not_once_more(loaded, write):
    registry = loaded()

    write("extensions/counter_meta.yaml", "tags: [new]\n")
    assert registry.reload("counter").tags == ("new",)
    assert registry.discover() == []


def test_what_came_from_no_file_cannot_be_reloaded(loaded):
    registry = loaded()
    registry.register("other", registry.get("counter"))

    with pytest.raises(ReloadFailedError, match="file"):
        registry.reload("other")
    with pytest.raises(ModuleNotFoundError):
        registry.reload("unknown")
    assert registry.list() == ["counter", "other"]


@pytest.mark.req("R-12.7.4-05", "R-12.7.4-06", "R-5.15.3-04")
def test_what_was_unregistered_is_gone_and_may_be_unregistered_again(loaded, events):
    registry = loaded()
    first = registry.get("counter")

    assert registry.unregister("counter") is True
    assert registry.unregister("counter") is False

    assert events == ["1 unload"]
    assert first.count == 1
    with pytest.raises(ModuleNotFoundError):
        registry.get("counter")
    with pytest.raises(ModuleNotFoundError):
        Executor(registry).call("counter", {})


@pytest.mark.req("R-12.7.4-03")
def test_a_call_that_runs_goes_on_to_its_end_and_the_next_one_finds_nothing():
    started, go_on = threading.Event(), threading.Event()

    class Slow:
        description = "Waits"
        input_schema = output_schema = {"type": "object"}

        def execute(self, inputs, context):
            started.set()
            assert go_on.wait(10)
            return {"done": True}

    registry = Registry()
    registry.register("a.slow", Slow)
    executor = Executor(registry)
    with ThreadPoolExecutor() as pool:
        running = pool.submit(executor.call, "a.slow", {})
        assert started.wait(10)
        leaving = pool.submit(registry.unregister, "a.slow")
        assert wait_until(lambda: not registry.has("a.slow"))
        with pytest.raises(ModuleNotFoundError):
            executor.call("a.slow", {})
        assert not leaving.done()
        go_on.set()
        assert running.result(10) == {"done": True}
        assert leaving.result(10) is True


@pytest.mark.req("R-12.7.8-01")
def test_finally_blocks_run_at_a_normal_end_and_when_a_call_is_cancelled(events):
    class Careful:
        description = "Cleans up"
        input_schema = output_schema = {"type": "object"}

        def execute(self, inputs, context):
            try:
                if inputs["stop"]:
                    context.cancel_token.cancel("enough")
                context.cancel_token.check()
                return {}
            finally:
                events.append("finally")

        def on_unload(self):
            events.append("on_unload")

    registry = Registry()
    registry.register("a.careful", Careful)
    executor = Executor(registry)

    executor.call("a.careful", {"stop": False})
    with pytest.raises(ExecutionCancelledError):
        executor.call("a.careful", {"stop": True})
    registry.unregister("a.careful")

    assert events == ["finally", "finally", "on_unload"]


class TestReloadingUnderLoad:
    @pytest.fixture
    def gate(self, monkeypatch):
        """What the slow version waits for; whoever is inside has said so."""
        import builtins

        gate = (threading.Event(), threading.Event())
        monkeypatch.setattr(builtins, "apcore_test_gate", gate, raising=False)
        return gate

    def slow(self, version):
        waiting = "import builtins; a, b = builtins.apcore_test_gate; a.set(); assert b.wait(10); self.count += 1"
        return source(version, suspend='{"count": self.count}').replace("self.count += 1", waiting)

    @pytest.fixture
    def busy(self, project, write, events, gate):
        """A registry whose module has a call inside."""
        write("extensions/counter.py", self.slow(1))
        registry = Registry()
        registry.discover()
        with ThreadPoolExecutor() as pool:
            call = pool.submit(Executor(registry).call, "counter", {})
            assert gate[0].wait(10)
            write("extensions/counter.py", source(2))
            yield registry, pool, call
            gate[1].set()

    @pytest.mark.req("R-12.7.4-03", "R-12.7.3-01")
    def test_the_state_is_taken_when_the_last_call_has_ended(self, busy, gate):
        registry, pool, call = busy

        reloading = pool.submit(registry.reload, "counter")
        assert wait_until(lambda: not registry.has("counter"))
        with pytest.raises(ModuleNotFoundError):
            Executor(registry).call("counter", {})
        with pytest.raises(InvalidInputError, match="counter"):
            registry.register("counter", object())
        gate[1].set()

        assert call.result(10) == {"version": "1", "count": 1}
        assert reloading.result(10).version == "2.0.0"
        assert Executor(registry).call("counter", {}) == {"version": "2", "count": 2}

    def test_a_call_that_does_not_end_costs_the_state_and_not_the_reload(self, busy, events, caplog):
        registry, _pool, _call = busy

        registry.reload("counter", timeout=0.05)

        assert Executor(registry).call("counter", {}) == {"version": "2", "count": 1}
        assert not any("suspend" in each or "resume" in each for each in events)
        assert "by force" in caplog.text

    def test_what_is_unregistered_in_between_does_not_come_back(self, busy, gate, events):
        registry, pool, _call = busy

        reloading = pool.submit(registry.reload, "counter")
        assert wait_until(lambda: not registry.has("counter"))
        registry.unregister("counter")
        gate[1].set()

        with pytest.raises(ModuleNotFoundError, match="unregistered while"):
            reloading.result(10)
        assert registry.list() == []
        assert events[-1] == "2 unload"
