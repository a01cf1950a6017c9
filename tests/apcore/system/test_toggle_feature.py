import pytest

from apcore import build_app
from apcore.context import Context, Identity
from apcore.errors import InvalidInputError, ModuleDisabledError, ModuleNotFoundError, SchemaValidationError
from apcore.system import MemoryOverridesStore, register_sys_modules
from tests.apcore.system.conftest import Module

TOGGLE = "system.control.toggle_feature"


@pytest.mark.req("R-6.7-10", "R-6.7-20")
def test_a_module_is_switched_off_and_on_again(app):
    output = app.executor.call(TOGGLE, {"module_id": "math.add", "enabled": False, "reason": "too slow"})
    assert output == {"success": True, "module_id": "math.add", "enabled": False, "was_enabled": True}

    with pytest.raises(ModuleDisabledError) as caught:
        app.executor.call("math.add", {"n": 1})
    assert (caught.value.code, caught.value.http_status, caught.value.retryable) == ("MODULE_DISABLED", 403, False)

    app.executor.call(TOGGLE, {"module_id": "math.add", "enabled": True})
    assert app.executor.call("math.add", {"n": 1}) == {"n": 2}


@pytest.mark.req("R-6.7-12", "R-9.16.2-03")
def test_each_switch_is_told_once(app, heard):
    context = Context.create(identity=Identity("ada"))
    for enabled in (False, True):
        app.executor.call(TOGGLE, {"module_id": "math.add", "enabled": enabled}, context)

    assert [(each.type, each.severity, dict(each.data)) for each in heard] == [
        ("apcore.module.toggled", "warn", {"module_id": "math.add", "enabled": False}),
        ("apcore.module.toggled", "info", {"module_id": "math.add", "enabled": True}),
    ]
    assert {each.trace_id for each in heard} == {context.trace_id}


@pytest.mark.req("R-6.7-16")
def test_with_a_store_the_switch_outlives_the_process(make_app):
    store = MemoryOverridesStore()
    make_app(overrides=store).executor.call(TOGGLE, {"module_id": "math.add", "enabled": False})

    restarted = make_app(overrides=store)
    with pytest.raises(ModuleDisabledError):
        restarted.executor.call("math.add", {"n": 1})

    restarted.executor.call(TOGGLE, {"module_id": "math.add", "enabled": True})
    assert make_app(overrides=store).executor.call("math.add", {"n": 1}) == {"n": 2}


@pytest.mark.req("R-6.7-17")
def test_without_a_store_it_does_not():
    for _ in range(2):
        app = build_app()
        app.registry.register("math.add", Module)
        register_sys_modules(app, {"enabled": True})
        assert app.executor.call("math.add", {"n": 1}) == {"n": 2}
        app.executor.call(TOGGLE, {"module_id": "math.add", "enabled": False})


def test_a_switch_that_cannot_be_stored_does_not_happen(make_app, heard):
    class Broken(MemoryOverridesStore):
        def save(self, key, value):
            raise OSError("disk full")

    app = make_app(overrides=Broken())
    with pytest.raises(Exception, match="failed"):
        app.executor.call(TOGGLE, {"module_id": "math.add", "enabled": False})

    assert app.toggles.is_enabled("math.add")
    assert heard == []


def test_what_cannot_be_switched(app, heard):
    with pytest.raises(ModuleNotFoundError):
        app.executor.call(TOGGLE, {"module_id": "no.such", "enabled": False})
    with pytest.raises(InvalidInputError, match="itself"):
        app.executor.call(TOGGLE, {"module_id": TOGGLE, "enabled": False})
    for inputs in ({"module_id": "math.add"}, {"module_id": "math.add", "enabled": "no"}, {"enabled": True}):
        with pytest.raises(SchemaValidationError):
            app.executor.call(TOGGLE, inputs)
    assert heard == []


def test_the_preview_says_what_would_be_switched_and_switches_nothing(app, heard):
    result = app.executor.validate(TOGGLE, {"module_id": "math.add", "enabled": False})

    assert (result.valid, result.requires_approval, result.effect.provenance) == (True, True, "declared")
    [change] = result.predicted_changes
    assert change.to_dict() == {
        "action": "update",
        "target": "toggle:math.add",
        "summary": "Switch module math.add off",
        "before": {"enabled": True},
        "after": {"enabled": False},
    }
    assert app.toggles.is_enabled("math.add")
    assert heard == []
