import gc
import weakref

import pytest

from apcore import EventEmitter, Registry, build_app, module
from apcore.events import CORE_EVENTS
from apcore.registry import bridge_events


@module(id="math.add")
def add(a: int, b: int) -> dict:  # type: ignore[type-arg]  # as people write it
    """Add"""
    return {"sum": a + b}


@pytest.fixture
def app():
    return build_app()


@pytest.fixture
def heard(app):
    heard = []
    app.events.subscribe(heard.append)
    return heard


@pytest.mark.req("R-9.16.2-01")
def test_a_registration_is_heard(app, heard):
    app.registry.register("math.add", add)
    [event] = heard
    assert event.type == "apcore.registry.module_registered"
    assert (event.severity, dict(event.data), event.module_id) == ("info", {"module_id": "math.add"}, "math.add")


@pytest.mark.req("R-9.16.2-02")
@pytest.mark.parametrize("remove", ["unregister", "safe_unregister"])
def test_a_removal_is_heard(app, heard, remove):
    app.registry.register("math.add", add)
    getattr(app.registry, remove)("math.add")
    event = heard[-1]
    assert event.type == "apcore.registry.module_unregistered"
    assert (event.severity, dict(event.data)) == ("info", {"module_id": "math.add"})
    assert len(heard) == 2


def test_the_removal_is_over_when_the_event_comes_and_not_before_the_callback(app):
    """C-62: the callback still finds the module, the subscriber does not."""
    found = []
    app.registry.register("math.add", add)
    app.registry.on("unregister", lambda module_id, module: found.append(("callback", app.registry.has(module_id))))
    app.events.subscribe(lambda event: found.append(("event", app.registry.has(event.module_id))))
    app.registry.unregister("math.add")
    assert found == [("callback", True), ("event", False)]


def test_what_was_refused_or_is_unknown_is_not_heard(app, heard):
    with pytest.raises(Exception, match="Invalid module ID"):
        app.registry.register("Math.Add", add)
    assert not app.registry.unregister("math.add")
    assert heard == []


def test_modules_that_are_found_are_heard_once_each(app, heard, tmp_path):
    (tmp_path / "sums.py").write_text(
        "from apcore import module\n\n@module(description='Add')\ndef plus(a: int) -> dict:\n    return {'a': a}\n"
    )
    ids = app.registry.discover(str(tmp_path))
    app.registry.discover(str(tmp_path))
    assert [event.module_id for event in heard] == ids
    app.registry.close()
    assert [event.type for event in heard[len(ids) :]] == ["apcore.registry.module_unregistered"] * len(ids)


@pytest.mark.req("R-9.16.2-09")
def test_whatever_is_heard_has_a_canonical_name(app, heard):
    app.registry.register("math.add", add)
    app.executor.call("math.add", {"a": 1, "b": 2})
    app.registry.unregister("math.add")
    assert {event.type for event in heard} <= set(CORE_EVENTS)


def test_the_registry_does_not_keep_an_emitter_alive():
    registry, emitter = Registry(), EventEmitter()
    bridge_events(registry, emitter)
    reference = weakref.ref(emitter)
    del emitter
    gc.collect()
    assert reference() is None
    registry.register("math.add", add)


def test_a_failing_subscriber_does_not_undo_a_registration(app):
    def fail(event):
        raise RuntimeError

    app.events.subscribe(fail)
    app.registry.register("math.add", add)
    assert app.registry.has("math.add")
