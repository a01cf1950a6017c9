import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from apcore.errors import (
    InvalidInputError,
    InvalidModuleIdError,
    ModuleLoadError,
    ModuleNotFoundError,
    SchemaParseError,
)
from apcore.modules import module
from apcore.registry import Registry


class Plain:
    description = "A plain module"
    input_schema = {"type": "object"}
    output_schema = {"type": "object"}

    def execute(self, inputs, context):
        return {}


@pytest.mark.req("R-12.2-08")
@pytest.mark.parametrize("ask", ["get", "get_definition", "describe"])
def test_an_unknown_id_is_an_error(ask):
    with pytest.raises(ModuleNotFoundError) as caught:
        getattr(Registry(), ask)("a.b")
    assert caught.value.code == "MODULE_NOT_FOUND"
    assert caught.value.details == {"module_id": "a.b"}


@pytest.mark.parametrize(
    ("module_id", "thing", "error"),
    [
        ("A.b", Plain, InvalidModuleIdError),
        ("system.x", Plain, InvalidModuleIdError),
        ("a.b", object(), ModuleLoadError),
        ("a.b", type("Bad", (Plain,), {"input_schema": {"type": 5}}), SchemaParseError),
    ],
)
def test_what_is_not_admitted_leaves_no_trace(module_id, thing, error):
    registry = Registry()
    with pytest.raises(error):
        registry.register(module_id, thing)
    assert registry.list(include_hidden=True) == []
    assert not registry.has(module_id)


@pytest.mark.req("R-2.6-01", "R-5.11.6-02", "R-12.7.4-04")
def test_the_second_registration_of_an_id_is_refused():
    registry = Registry()
    first = registry.register("a.b", Plain).module
    with pytest.raises(InvalidInputError) as caught:
        registry.register("a.b", Plain)
    assert caught.value.details["type"] == "duplicate_id"
    assert registry.get("a.b") is first


@pytest.mark.req("R-5.6-01", "R-12.2-08", "R-12.2-37")
def test_classes_instances_and_functions_are_found_under_their_id():
    @module(id="a.function")
    def function(a: int) -> dict:
        return {}

    registry, instance = Registry(), Plain()
    registry.register("a.plain", Plain)
    registry.register("a.instance", instance)
    registry.register(function.id, function)
    assert isinstance(registry.get("a.plain"), Plain)
    assert registry.get("a.instance") is instance
    assert registry.get("a.function") is function
    assert registry.get_definition("a.function").module_id == "a.function"


@pytest.mark.req("R-5.3-08")
def test_has_module_answers_without_an_error():
    registry = Registry()
    registry.register("a.b", Plain)
    assert registry.has_module("a.b")
    assert registry.has("a.b")
    assert not registry.has_module("a.c")


@pytest.mark.req("R-6.6.3-01", "R-2.5-06")
def test_the_framework_has_a_door_of_its_own():
    registry = Registry()
    registry.register_internal("system.health.summary", Plain)
    assert registry.list(prefix="system.") == ["system.health.summary"]
    with pytest.raises(InvalidModuleIdError):
        registry.register_internal("ephemeral.x", Plain)


@pytest.mark.req("R-5.15.3-04", "R-12.7.4-05")
def test_a_module_that_was_unregistered_is_not_found():
    registry = Registry()
    registry.register("a.b", Plain)
    assert registry.unregister("a.b") is True
    assert registry.unregister("a.b") is False
    with pytest.raises(ModuleNotFoundError):
        registry.get("a.b")
    registry.register("a.b", Plain)


def test_closing_unloads_everything_the_latest_first():
    registry, unloaded = Registry(), []
    for name in ("a", "b", "c"):
        registry.register(name, type("Last", (Plain,), {"on_unload": lambda self, name=name: unloaded.append(name)}))
    registry.close()
    assert unloaded == ["c", "b", "a"]
    assert registry.list() == []


@pytest.mark.req("R-12.7.4-04")
def test_of_two_registrations_at_the_same_time_one_wins():
    registry, barrier = Registry(), threading.Barrier(2)

    class Slow(Plain):
        def on_load(self):
            loads.append(self)

    def register(_):
        barrier.wait()
        try:
            return registry.register("a.b", Slow)
        except InvalidInputError:
            return None

    for _ in range(20):
        loads = []
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(register, range(2)))
        assert results.count(None) == 1
        assert len(loads) == 1
        registry.unregister("a.b")


def test_reading_is_safe_while_others_register():
    registry, stop = Registry(), threading.Event()

    def churn():
        while not stop.is_set():
            for number in range(50):
                registry.register(f"m{number}.x", Plain)
            registry.close()

    writer = threading.Thread(target=churn)
    writer.start()
    try:
        for _ in range(300):
            assert len(registry.list()) <= 50
            registry.find("plain")
    finally:
        stop.set()
        writer.join()


def test_registries_share_nothing():
    Registry().register("a.b", Plain)
    assert Registry().list() == []


def test_a_module_may_register_others_while_it_loads():
    registry = Registry()

    class Parent(Plain):
        def on_load(self):
            registry.register("a.child", Plain)

    registry.register("a.parent", Parent)
    assert registry.list() == ["a.child", "a.parent"]
