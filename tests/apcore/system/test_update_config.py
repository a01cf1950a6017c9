import pytest

from apcore.config import REGISTRY, Config
from apcore.errors import ConfigError, InvalidInputError, SchemaValidationError
from apcore.redaction import REDACTED_VALUE, redact
from apcore.system import MemoryOverridesStore

UPDATE = "system.control.update_config"


@pytest.mark.req("R-6.7-07", "R-6.7-12", "R-9.16.2-05")
def test_a_value_is_set_and_told(app, heard):
    output = app.executor.call(UPDATE, {"key": "executor.default_timeout", "value": 1000})

    told = {"key": "executor.default_timeout", "old_value": 30_000, "new_value": 1000}
    assert output == {"success": True, **told}
    assert app.config.get("executor.default_timeout") == app.executor.settings.default_timeout == 1000
    assert [(each.type, each.severity, dict(each.data)) for each in heard] == [("apcore.config.updated", "info", told)]


def test_what_is_read_when_a_process_starts_says_so(app):
    output = app.executor.call(UPDATE, {"key": "acl.default_effect", "value": "allow"})
    assert output["restart_needed"] is True


@pytest.mark.parametrize(("values", "section"), [({}, "executor"), ({"apcore": {}}, "apcore.executor")])
def test_limits_are_in_force_at_once_also_those_that_were_kept(make_app, values, section):
    store = MemoryOverridesStore()
    app = make_app(values=values, overrides=store)
    for key, value in (("max_call_depth", 9), ("default_timeout", 1000)):
        assert "restart_needed" not in app.executor.call(UPDATE, {"key": f"{section}.{key}", "value": value})
    restarted = make_app(values=values, overrides=store)
    without_modules = make_app({"enabled": False}, values=values, overrides=store)
    for each in (app, restarted, without_modules):
        assert (each.executor.settings.max_call_depth, each.executor.settings.default_timeout) == (9, 1000)


@pytest.mark.parametrize("key", ["shop.greeting", "executors.default_timeout"])
def test_what_the_framework_does_not_read_itself_is_in_force_at_once(app, key):
    assert "restart_needed" not in app.executor.call(UPDATE, {"key": key, "value": "hello"})
    assert app.config.get(key) == "hello"


@pytest.mark.parametrize("value", ["soon", -1, None, {"ms": 1}, True])
def test_a_value_that_is_not_valid_changes_nothing(make_app, heard, value):
    store = MemoryOverridesStore()
    app = make_app(overrides=store)
    with pytest.raises(ConfigError):
        app.executor.call(UPDATE, {"key": "executor.default_timeout", "value": value})

    assert app.config.get("executor.default_timeout") == 30_000
    assert store.load() == {}
    assert heard == []


@pytest.mark.req("R-6.7-15")
@pytest.mark.parametrize("key", ["db.password", "services.apiKey", "secret.parts.first", "api.key"])
def test_the_value_of_a_sensitive_key_is_shown_nowhere(make_app, heard, key):
    app = make_app(values={})
    app.config.set(key, "old hunter")
    inputs = {"key": key, "value": "new hunter"}

    output = app.executor.call(UPDATE, inputs)
    effect = app.executor.validate(UPDATE, inputs)

    assert (output["old_value"], output["new_value"]) == (REDACTED_VALUE, REDACTED_VALUE)
    assert dict(heard[0].data) == {"key": key, "old_value": REDACTED_VALUE, "new_value": REDACTED_VALUE}
    assert app.config.get(key) == "new hunter"
    assert effect.valid
    assert "hunter" not in str((output, heard, effect.to_dict()))


@pytest.mark.req("R-6.7-15")
def test_secrets_inside_of_a_value_are_hidden_too(app, heard):
    output = app.executor.call(UPDATE, {"key": "db", "value": {"host": "h", "password": "hunter2"}})
    assert output["new_value"] == {"host": "h", "password": REDACTED_VALUE}
    assert "hunter2" not in str(heard[0].to_dict())


@pytest.mark.req("R-6.7-15")
def test_further_names_of_secrets_come_from_the_configuration(make_app, heard):
    app = make_app(values={"observability": {"redaction": {"sensitive_keys": ["plate"]}}})
    output = app.executor.call(UPDATE, {"key": "car.plate", "value": "B-XY 1"})
    assert output["new_value"] == REDACTED_VALUE
    assert "B-XY 1" not in str(heard[0].to_dict())


@pytest.mark.parametrize("key", ["db.password", "secret.parts.first", "api.key"])
def test_the_inputs_hide_the_value_as_well(app, key):
    """What an approver, a log or an audit entry would be shown of the call."""
    schema = app.registry.get_definition(UPDATE).input_schema
    assert redact({"key": key, "value": "hunter2"}, schema)["value"] == REDACTED_VALUE


@pytest.fixture
def with_marked_keys(make_app):
    saved = REGISTRY.snapshot()
    schema = {
        "type": "object",
        "properties": {"seals": {"type": "array", "x-sensitive": True}, "size": {"type": "integer"}},
    }
    Config.register_namespace("vault", schema=schema, defaults={"seals": ["old hunter"], "size": 1})
    yield make_app(values={"apcore": {}})
    REGISTRY.restore(saved)


@pytest.mark.req("R-6.7-15")
@pytest.mark.parametrize(
    ("key", "value"), [("vault.seals", ["new hunter"]), ("vault.seals.first", "new hunter"), ("vault", {"seals": [1]})]
)
def test_a_secret_by_schema_alone_is_refused_since_its_request_would_show_it(with_marked_keys, heard, key, value):
    with pytest.raises(InvalidInputError, match="name does not tell") as caught:
        with_marked_keys.executor.call(UPDATE, {"key": key, "value": value})
    assert "hunter" not in str(caught.value.to_dict())
    assert with_marked_keys.config.get("vault.seals") == ["old hunter"]


@pytest.mark.req("R-6.7-15")
def test_what_is_replaced_hides_secrets_by_schema(with_marked_keys):
    output = with_marked_keys.executor.call(UPDATE, {"key": "vault", "value": {"size": 2}})
    assert output["old_value"] == {"seals": REDACTED_VALUE, "size": 1}


def test_a_namespace_that_is_read_at_the_start_cannot_be_changed_later(make_app, heard):
    store = MemoryOverridesStore()
    app = make_app(overrides=store, fixed=["shop"])
    for key in ("shop", "shop.queue"):
        with pytest.raises(InvalidInputError, match="read when a process starts"):
            app.executor.call(UPDATE, {"key": key, "value": {"a": 1}})
    assert (store.load(), heard) == ({}, [])
    assert app.executor.call(UPDATE, {"key": "shopping.queue", "value": 1})["success"]


@pytest.mark.parametrize("key", ["a\0b", "a.\x1b[31m", "a\x7f"])
def test_a_key_with_control_characters_is_refused(app, key):
    with pytest.raises(SchemaValidationError):
        app.executor.call(UPDATE, {"key": key, "value": 1})


def test_with_a_store_the_value_outlives_the_process_and_a_reload(make_app):
    store = MemoryOverridesStore()
    make_app(overrides=store).executor.call(UPDATE, {"key": "executor.default_timeout", "value": 1000})
    restarted = make_app(overrides=store)
    assert restarted.config.get("executor.default_timeout") == 1000

    restarted.executor.call(UPDATE, {"key": "executor.default_timeout", "value": 2000})
    restarted.config.reload()
    assert restarted.config.get("executor.default_timeout") == 2000


def test_what_is_no_key(app):
    for key in ("", "a..b", ".a", "a b", "a."):
        with pytest.raises(SchemaValidationError):
            app.executor.call(UPDATE, {"key": key, "value": 1})
    with pytest.raises(InvalidInputError, match="toggle_feature"):
        app.executor.call(UPDATE, {"key": "toggles.math.add", "value": False})
    with pytest.raises(SchemaValidationError):
        app.executor.call(UPDATE, {"key": "a.b"})


def test_the_preview_shows_both_values_and_sets_none(app, heard):
    result = app.executor.validate(UPDATE, {"key": "executor.default_timeout", "value": 1000})
    [change] = result.predicted_changes
    assert (change.before, change.after) == ({"value": 30_000}, {"value": 1000})
    assert app.config.get("executor.default_timeout") == 30_000
    assert heard == []
