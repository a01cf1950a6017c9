"""Reading and setting values (§9.9)."""

import dataclasses
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import BaseModel

from apcore import Config, resolve_namespace_path
from apcore.config import validation
from apcore.errors import ConfigBindError, ConfigError, ConfigMountError

NAMESPACES = {"apcore": {}, "apcore-mcp": {"transport": "stdio"}, "apflow": {"api": {"timeout": 30.0, "retries": 3}}}


@pytest.fixture
def config():
    return Config.from_dict(NAMESPACES)


@pytest.mark.req("R-9.9.1-01", "R-9.9.1-04")
def test_paths_begin_with_the_namespace(config):
    assert config.get("apcore-mcp.transport") == "stdio"
    assert config.get("apcore.executor.default_timeout") == 30000
    config.set("apcore-mcp.auth.enabled", True)
    config.set("apcore.executor.default_timeout", 5)
    assert config.namespace("apcore-mcp") == {"transport": "stdio", "auth": {"enabled": True}}
    assert config.get("apcore.executor.default_timeout") == 5


@pytest.mark.req("R-9.9.1-01")
def test_resolution_by_its_name():
    known = {"apcore", "apcore-mcp"}

    assert resolve_namespace_path("apcore-mcp.transport", "namespace", known) == ("apcore-mcp", "transport")
    assert resolve_namespace_path("apcore.mcp.transport", "namespace", known) == ("apcore", "mcp.transport")
    assert resolve_namespace_path("apcore", "namespace", known) == ("apcore", "")
    assert resolve_namespace_path("nope.x.y", "namespace", known) == ("nope", "x.y")
    assert resolve_namespace_path("executor.default_timeout", "legacy", known) == (None, "executor.default_timeout")


@pytest.mark.req("R-9.9.1-02")
def test_legacy_paths_need_no_prefix():
    config = Config.from_defaults()
    config.set("executor.default_timeout", 5)

    assert config.get("executor.default_timeout") == 5
    assert config.get("executor")["max_call_depth"] == 32


@pytest.mark.req("R-9.9.1-03")
@pytest.mark.parametrize("path", ["nope.x", "apcore.nope", "apcore-mcp.transport.deeper", "", ".", "apcore..x"])
def test_what_is_not_there_is_the_default(config, path):
    assert config.get(path, 7) == 7
    assert config.get(path) is None


def test_a_null_is_a_value(config):
    assert config.get("observability.tracing.otlp_endpoint", 7) is None


@pytest.mark.parametrize("path", ["", ".", "a..b", "a."])
def test_only_paths_can_be_set(config, path):
    before = config.data
    with pytest.raises(ConfigError):
        config.set(path, 1)
    assert config.data == before


def test_a_later_set_wins_over_one_of_a_part(config):
    config.set("apflow.api.timeout", 1)
    config.set("apflow.api", {"timeout": 2})
    config.set("apflow.api.retries", 5)

    assert config.get("apflow.api") == {"timeout": 2, "retries": 5}
    assert str(config.source("apflow.api.timeout")) == "override"


def test_a_value_can_be_checked_before_it_is_set(config):
    with pytest.raises(ConfigError, match=r"max_call_depth.*from override"):
        config.set("apcore.executor.max_call_depth", 0, validate=True)
    with pytest.raises(ConfigError, match="max_call_depth"):
        config.check("apcore.executor.max_call_depth", 0)
    assert config.get("apcore.executor.max_call_depth") == 32
    config.set("apcore.executor.max_call_depth", 5, validate=True)
    assert config.get("apcore.executor.max_call_depth") == 5


@pytest.mark.parametrize(
    ("data", "path", "meant"),
    [
        ({}, "executor.defualt_timeout", "executor.default_timeout"),
        ({}, "sys_modules.enabeld", "sys_modules.enabled"),
        ({"apcore": {}}, "apcore.executor.defualt_timeout", "apcore.executor.default_timeout"),
        ({"apcore": {}}, "observability.tracing.stratgy", "observability.tracing.strategy"),
        ({"apcore": {}}, "executor.default_timeout", "apcore.executor.default_timeout"),
    ],
)
def test_a_key_that_nobody_reads_cannot_be_set_by_who_asks_first(data, path, meant):
    config = Config.from_dict(data)
    with pytest.raises(ConfigError, match=f"'{path}' is not a known key; did you mean '{meant}'"):
        config.check(path, 1)


@pytest.mark.parametrize(("data", "path"), [({}, "billing.port"), ({"apcore": {}}, "billing.port")])
def test_sections_of_others_can(data, path):
    config = Config.from_dict(data)
    config.check(path, 1)
    assert config.get(path) is None


def test_an_unknown_key_that_is_there_keeps_no_other_from_being_set():
    config = Config.from_dict({"executor": {"defualt_timeout": 5}})
    config.check("executor.max_call_depth", 5)


@pytest.mark.req("R-9.9.2-01")
def test_what_is_read_is_a_copy(config):
    config.namespace("apflow")["api"]["timeout"] = 0
    config.get("apflow.api")["timeout"] = 0
    config.data["apflow"]["api"]["timeout"] = 0
    given = {"a": [1]}
    config.set("apflow.more", given)
    given["a"].append(2)

    assert config.get("apflow.api.timeout") == 30.0
    assert config.get("apflow.more.a") == [1]


@pytest.mark.req("R-9.13.2-01")
@pytest.mark.parametrize("data", [{}, NAMESPACES])
def test_an_absent_namespace_is_a_key_error(data):
    with pytest.raises(KeyError):
        Config.from_dict(data).namespace("missing")


@pytest.mark.req("R-9.9.3-01")
def test_typed_access(config):
    assert config.get_typed("apflow.api.timeout", float) == 30.0
    assert isinstance(config.get_typed("apflow.api.retries", float), float)
    assert config.get_typed("apcore.extensions.root", Path) == Path("./extensions")
    assert config.get_typed("apflow.api.retries", timedelta) == timedelta(seconds=3)
    assert config.get_typed("apcore.middleware.disabled", list[str]) == []


@pytest.mark.req("R-9.9.3-01")
@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("apcore-mcp.transport", int),
        ("apcore.extensions.auto_discover", int),
        ("apflow.api.retries", str),
        ("apflow.api.retries", bool),
        ("apflow.api", float),
        ("apflow.api.missing", float),
    ],
)
def test_a_value_of_another_type(config, path, wanted):
    with pytest.raises(ConfigError, match=path) as caught:
        config.get_typed(path, wanted)

    assert caught.value.code == "CONFIG_INVALID"


class Api(BaseModel):
    timeout: float
    retries: int = 1


class Model(BaseModel):
    api: Api


@dataclass
class Record:
    api: dict[str, float]


@dataclass(frozen=True)
class NestedRecord:
    @dataclass(frozen=True)
    class Part:
        timeout: float
        retries: int

    api: Part


@pytest.mark.req("R-9.9.3-02", "R-9.12.1-02")
def test_binding(config):
    assert config.bind("apflow", Model) == Model(api=Api(timeout=30.0, retries=3))
    assert config.bind("apflow", Record).api["timeout"] == 30.0
    assert config.bind("apflow", NestedRecord) == NestedRecord(NestedRecord.Part(30.0, 3))


@pytest.mark.req("R-9.9.3-03")
def test_binding_does_not_validate_again(monkeypatch):
    Config.register_namespace("apflow", {"type": "object"})
    config, calls = Config.from_dict(NAMESPACES), []
    monkeypatch.setattr(validation, "compile_schema", lambda *given: calls.append(given))

    config.bind("apflow", Model)

    assert calls == []


@pytest.mark.req("R-9.9.3-04")
@pytest.mark.parametrize("cls", [Model, NestedRecord])
@pytest.mark.parametrize("api", [{"retries": 3}, {"timeout": "soon", "retries": 3}])
def test_what_does_not_fit_is_named(cls, api):
    config = Config.from_dict({"apcore": {}, "apflow": {"api": api}})
    with pytest.raises(ConfigBindError) as caught:
        config.bind("apflow", cls)

    assert caught.value.code == "CONFIG_BIND_ERROR"
    assert "apflow.api.timeout" in caught.value.message
    assert caught.value.details == {"namespace": "apflow", "type": cls.__name__, "fields": ["api.timeout"]}


@pytest.mark.req("R-9.9.3-04")
def test_binding_an_absent_namespace(config):
    with pytest.raises(ConfigBindError, match="missing"):
        config.bind("missing", Model)


def test_binding_repeats_no_secret():
    secret = dataclasses.make_dataclass("Secret", [("api_key", int)])
    config = Config.from_dict({"apcore": {}, "billing": {"api_key": "hunter2hunter2"}})
    with pytest.raises(ConfigBindError) as caught:
        config.bind("billing", secret)

    assert "hunter2" not in str(caught.value) + str(caught.value.details) + repr(caught.value.__cause__)


@pytest.mark.req("R-9.9.3-05")
def test_what_is_bound_is_a_snapshot(config):
    bound = config.bind("apflow", Record)
    config.set("apflow.api.timeout", 1.0)

    assert bound.api["timeout"] == 30.0


@pytest.mark.req("R-9.12.1-01", "R-9.12.1-02")
def test_the_whole_surface(write):
    Config.register_namespace("billing", defaults={"port": 1})
    Config.env_map({"PORT": "port"})
    config = Config.load(write("a.yaml", 'version: "1.0.0"\nproject: {name: a}\n'))
    config.mount("billing", from_dict={"host": "h"})
    config.set("executor.max_call_depth", 5)
    config.validate()
    config.reload()

    assert Config.from_defaults().get("executor.max_call_depth") == config.get("executor.max_call_depth") == 32
    assert config.namespace("billing") == {"port": 1, "host": "h"}
    assert config.get_typed("billing.port", int) == 1
    assert [each["name"] for each in Config.registered_namespaces()][-1] == "billing"


def test_every_value_has_a_source(config, monkeypatch):
    monkeypatch.setenv("APCORE_ACL_DEFAULT_EFFECT", "allow")
    config.reload()
    listed = {path: (value, str(source)) for path, value, source in config.values()}

    assert listed["apcore.acl.default_effect"] == ("allow", "environment APCORE_ACL_DEFAULT_EFFECT")
    assert listed["apflow.api.timeout"] == (30.0, "data")
    assert listed["apcore.acl.root"] == ("./acl", "default")
    assert config.is_set("apcore.acl.default_effect")
    assert not config.is_set("apcore.acl.root")
    assert not config.is_set("apcore.nothing")
    assert config.source("apcore.nothing") is None


@pytest.mark.parametrize("path", [None, 3, b"executor", ("executor",)])
def test_a_path_that_is_no_text_is_a_configuration_error(path):
    config = Config.from_defaults()
    for use in (config.get, config.source, config.is_set, lambda path: config.set(path, 1)):
        with pytest.raises(ConfigError, match="is a text like"):
            use(path)


@pytest.mark.parametrize("wanted", [3, "no-such-type"])
def test_what_is_no_type_can_be_bound_to_nothing(wanted):
    config = Config.from_defaults()
    with pytest.raises(ConfigBindError, match="apcore"):
        config.bind("apcore", wanted)
    with pytest.raises(ConfigError):
        config.get_typed("acl.root", wanted)
    with pytest.raises(ConfigBindError, match="absent"):
        config.bind("absent", wanted)


def test_what_is_shown_holds_no_secret_and_every_value():
    Config.register_namespace("shop", {"properties": {"pin": {"x-sensitive": True}}})
    config = Config.from_dict(
        {
            "apcore": {"id_map": {"overrides": {"a.b": "c", "https://ada:hunter2@example.org/d.e": "f"}}},
            "shop": {"pin": "hunter2", "port": 8000, "api": {"key": "hunter2", "list": []}},
            "mail": {
                "url": "smtp://ada:hunter2@mail/",
                "password": {"first": "hunter2", "second": "hunter2"},
                "options": [{"name": "token", "value": "hunter2"}],
            },
        }
    )
    shown = {path: value for path, value, _source in config.shown()}
    assert "hunter2" not in str(shown)
    assert len(shown) == len(list(config.values()))
    assert shown["apcore.id_map.overrides.a.b"] == "c"
    assert shown["apcore.id_map.overrides.https://***REDACTED***@example.org/d.e"] == "f"
    assert (shown["shop.port"], shown["shop.pin"], shown["shop.api.list"]) == (8000, "***REDACTED***", [])
    own = {path: value for path, value, _source in config.shown({"port"})}
    assert own["shop.port"] == "***REDACTED***"


def test_data_that_contains_itself_is_refused_wherever_it_comes_in():
    data = {}
    data["again"] = [data]
    deep = 1
    for _ in range(200):
        deep = {"a": deep}
    config = Config.from_defaults()
    for value in (data, deep):
        for enter in (Config.from_dict, Config, lambda value: config.set("q", value)):
            with pytest.raises(ConfigError, match="100 levels"):
                enter(value)
        with pytest.raises(ConfigMountError, match="100 levels"):
            config.mount("q", from_dict=value)
        with pytest.raises(ConfigError, match="100 levels"):
            Config.register_namespace("endless", defaults=value)
    assert config.get("q") is None
