import pytest

from apcore.errors import InvalidInputError
from apcore.registry import REGISTRY_EVENTS, Registry


class Plain:
    description = "A plain module"
    input_schema = {"type": "object"}
    output_schema = {"type": "object"}

    def execute(self, inputs, context):
        return {}


@pytest.mark.req("R-12.2-41")
@pytest.mark.parametrize("event", ["loaded", "REGISTER", "", None])
def test_an_unknown_event_is_refused(event):
    with pytest.raises(InvalidInputError, match="register, unregister"):
        Registry().on(event, lambda module_id, module: None)


@pytest.mark.req("R-12.2-40")
def test_the_names_are_constants():
    assert dict(REGISTRY_EVENTS) == {"REGISTER": "register", "UNREGISTER": "unregister"}


@pytest.mark.req("R-12.2-39")
def test_both_events_see_the_module_in_the_registry():
    registry, seen = Registry(), []

    def note(event):
        return lambda module_id, module: seen.append((event, module_id, module is registry.get(module_id)))

    for event in REGISTRY_EVENTS.values():
        registry.on(event, note(event))
    registry.register("a.b", Plain)
    registry.unregister("a.b")
    registry.unregister("a.b")
    assert seen == [("register", "a.b", True), ("unregister", "a.b", True)]


@pytest.mark.req("R-12.2-39")
def test_a_failed_registration_is_no_event():
    registry = Registry()
    registry.on("register", lambda module_id, module: pytest.fail("called"))
    with pytest.raises(InvalidInputError):
        registry.on("nothing", print)
    with pytest.raises(Exception, match="has no"):
        registry.register("a.b", object())


def test_a_failing_callback_is_logged_and_stops_nothing(caplog):
    registry, seen = Registry(), []

    def fails(module_id, module):
        raise ValueError

    registry.on("register", fails)
    registry.on("register", lambda module_id, module: seen.append(module_id))
    registry.register("a.b", Plain)
    assert (seen, registry.list()) == (["a.b"], ["a.b"])
    assert [record.levelname for record in caplog.records] == ["ERROR"]
