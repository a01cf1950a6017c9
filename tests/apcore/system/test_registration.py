import pytest

from apcore import Config, Registry, build_app
from apcore.acl import ACL
from apcore.errors import ACLDeniedError, ConfigError, InvalidInputError, InvalidModuleIdError, ModuleNotFoundError
from apcore.system import MemoryOverridesStore, register_sys_modules
from tests.apcore.system.conftest import Module

READ = [
    "system.health.module",
    "system.health.summary",
    "system.manifest.full",
    "system.manifest.module",
    "system.usage.module",
    "system.usage.summary",
]
WRITE = ["system.control.reload_module", "system.control.toggle_feature", "system.control.update_config"]


def registered(settings, **options):
    app = build_app(**options)
    returned = register_sys_modules(app, settings)
    assert sorted(returned) == app.registry.list("system.")
    return app.registry.list("system.")


@pytest.mark.req("R-6.7-18", "R-6.6.1-01")
def test_there_are_the_nine_and_no_others():
    assert registered({"enabled": True}) == sorted(READ + WRITE)


@pytest.mark.req("R-6.7-18", "R-9.15.3-04")
def test_without_control_there_are_the_six_that_only_look():
    assert registered({"enabled": True, "control": {"enabled": False}}) == READ


@pytest.mark.req("R-9.15.3-04")
@pytest.mark.parametrize("group", ["health", "manifest", "usage", "control"])
def test_a_group_that_is_off_is_not_there(group):
    found = registered({"enabled": True, group: {"enabled": False}})
    assert found == [each for each in sorted(READ + WRITE) if not each.startswith(f"system.{group}.")]


@pytest.mark.req("R-6.6.3-01", "R-6.6.3-02")
def test_by_default_there_is_none():
    for settings in (None, {}, {"enabled": False}):
        app = build_app()
        assert register_sys_modules(app, settings) == []
        assert app.registry.list() == []
        with pytest.raises(ModuleNotFoundError):
            app.executor.call("system.health.summary", {})


@pytest.mark.req("R-9.15.3-02", "R-6.6.3-02")
def test_the_section_of_a_configuration_is_read_in_both_modes():
    legacy = {"sys_modules": {"enabled": True, "control": {"enabled": False}}}
    namespaced = {"apcore": {}, "sys_modules": {"control": {"enabled": False}}}

    assert registered(Config.from_dict(legacy)) == READ
    assert registered(Config.from_dict(namespaced)) == READ
    assert registered(Config.from_dict({})) == []
    assert registered(Config.from_dict({"apcore": {}, "sys_modules": {"enabled": False}})) == []


@pytest.mark.parametrize(
    "settings",
    [
        {"enabled": "yes"},
        {"enabled": True, "health": True},
        {"enabled": True, "usage": {"enabled": 1}},
        {"enabled": True, "events": {"thresholds": {"error_rate": 2}}},
        {"enabled": True, "events": {"thresholds": {"latency_p99_ms": "slow"}}},
    ],
)
def test_a_switch_that_is_none_is_refused(settings):
    with pytest.raises(ConfigError, match="sys_modules"):
        register_sys_modules(build_app(), settings)


@pytest.mark.req("R-6.6.1-02", "R-6.6.1-01", "R-6.7-19")
def test_nobody_else_takes_their_names():
    app = build_app()
    with pytest.raises(InvalidModuleIdError):
        app.registry.register("system.health.summary", Module)

    register_sys_modules(app, {"enabled": True})
    with pytest.raises(InvalidInputError):
        register_sys_modules(app, {"enabled": True})
    with pytest.raises(InvalidInputError):
        app.registry.register_internal("system.health.summary", Module)
    assert app.registry.register_internal("system.acme.status", Module)


@pytest.mark.req("R-6.6.3-03", "R-6.6.3-05")
def test_the_access_list_decides_who_may_call_them():
    rules = [
        {"callers": ["@external"], "targets": ["system.*"], "effect": "deny"},
        {"callers": ["*"], "targets": ["*"], "effect": "allow"},
    ]
    app = build_app(acl=ACL(rules))
    register_sys_modules(app, {"enabled": True})
    app.registry.register("math.add", Module)

    assert app.executor.call("math.add", {"n": 1}) == {"n": 2}
    for module_id in app.registry.list("system."):
        with pytest.raises(ACLDeniedError):
            app.executor.call(module_id, {})


@pytest.mark.req("R-6.7-13", "R-6.6.3-04", "R-6.7-11")
def test_those_that_change_something_ask_for_an_approval_and_the_others_only_read(app):
    for module_id in READ:
        annotations = app.registry.get_definition(module_id).annotations
        assert (annotations.readonly, annotations.requires_approval) == (True, False)
    for module_id in WRITE:
        annotations = app.registry.get_definition(module_id).annotations
        assert (annotations.readonly, annotations.requires_approval) == (False, True)


@pytest.mark.req("R-6.7-11")
def test_reading_changes_nothing(app, record):
    record(app, "math.add", calls=2, errors=1)
    inputs = {module_id: {"module_id": "math.add"} if module_id.endswith(".module") else {} for module_id in READ}

    def state():
        usage = app.usage.module("math.add").to_dict(), app.usage.summary().to_dict()
        errors = [each.to_dict() for each in app.error_history.entries()]
        return app.registry.list(include_hidden=True), app.config.data, usage, errors

    before = state()
    first = {module_id: app.executor.call(module_id, each) for module_id, each in inputs.items()}
    assert {module_id: app.executor.call(module_id, each) for module_id, each in inputs.items()} == first
    assert state() == before


@pytest.mark.req("R-6.7-16")
def test_stored_overrides_are_in_force_after_the_start():
    store = MemoryOverridesStore({"toggles.math.add": False, "executor.default_timeout": 1234})
    app = build_app()
    app.registry.register("math.add", Module)
    register_sys_modules(app, None, overrides=store)

    assert not app.toggles.is_enabled("math.add")
    assert app.registry.list() == ["math.add"]


def test_an_override_that_is_not_valid_any_more_is_logged_and_left_out(make_app, caplog):
    store = MemoryOverridesStore({"executor.default_timeout": "secret text", "executor.max_call_depth": 7})
    app = make_app(overrides=store)

    assert app.config.get("executor.max_call_depth") == 7
    assert app.config.get("executor.default_timeout") == 30_000
    assert "executor.default_timeout" in caplog.text
    assert "secret text" not in caplog.text


def test_the_modules_belong_to_the_app_they_were_registered_for():
    """Two apps in one process do not see each other."""
    first, second = build_app(registry=Registry()), build_app(registry=Registry())
    for app in (first, second):
        register_sys_modules(app, {"enabled": True})
    first.registry.register("math.add", Module)

    assert len(first.executor.call("system.manifest.full", {})["modules"]) == 10
    assert len(second.executor.call("system.manifest.full", {})["modules"]) == 9
