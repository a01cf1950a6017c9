"""Registering namespaces (§9.5, §9.8.2)."""

import inspect
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from apcore import Config, errors
from apcore.config import REGISTRY
from apcore.errors import (
    ConfigEnvMapConflictError,
    ConfigEnvPrefixConflictError,
    ConfigError,
    ConfigNamespaceDuplicateError,
    ConfigNamespaceReservedError,
    ModuleError,
)

MINIMAL = 'apcore: {version: "1.0.0", project: {name: a}}\n'


def info(name):
    return next((each for each in Config.registered_namespaces() if each["name"] == name), None)


@pytest.mark.req("R-8.2-40")
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("ConfigNamespaceDuplicateError", "CONFIG_NAMESPACE_DUPLICATE"),
        ("ConfigNamespaceReservedError", "CONFIG_NAMESPACE_RESERVED"),
        ("ConfigEnvPrefixConflictError", "CONFIG_ENV_PREFIX_CONFLICT"),
        ("ConfigMountError", "CONFIG_MOUNT_ERROR"),
        ("ConfigBindError", "CONFIG_BIND_ERROR"),
        ("ConfigEnvMapConflictError", "CONFIG_ENV_MAP_CONFLICT"),
    ],
)
def test_errors(name, code):
    error = getattr(errors, name)()

    assert isinstance(error, ModuleError)
    assert (error.code, error.retryable, error.http_status) == (code, False, 500)


@pytest.mark.req("R-9.5.1-01")
def test_registration_is_on_the_class_and_has_seven_parameters():
    Config.register_namespace("billing")

    assert list(inspect.signature(Config.register_namespace).parameters) == [
        "name",
        "schema",
        "env_prefix",
        "defaults",
        "env_style",
        "max_depth",
        "env_map",
    ]
    assert info("billing") == {
        "name": "billing",
        "env_prefix": "BILLING",
        "has_schema": False,
        "env_style": "auto",
        "max_depth": 5,
    }


@pytest.mark.req("R-9.5.1-02")
@pytest.mark.parametrize("name", ["My", "a_b", "-a", "a--b", "a-", "1a", "", "a.b", "apcore.x"])
def test_names_that_are_refused(name):
    with pytest.raises(ConfigError) as caught:
        Config.register_namespace(name)

    assert caught.value.code == "CONFIG_INVALID"


@pytest.mark.req("R-9.5.1-04", "R-9.13.1-01")
def test_the_prefix_is_derived_from_the_name():
    Config.register_namespace("apcore-mcp")

    assert info("apcore-mcp")["env_prefix"] == "APCORE_MCP"


@pytest.mark.req("R-9.13.1-01", "R-9.8.2-02")
@pytest.mark.parametrize(
    ("name", "prefix"), [("apcore-mcp", "APCORE_MCP"), ("apcore-a2a", "APCORE_A2A"), ("apcore-cli", "APCORE_CLI")]
)
def test_the_documented_calls_of_the_ecosystem(name, prefix, tmp_path, write):
    file = tmp_path / f"{name}.schema.json"
    file.write_text('{"properties": {"port": {"type": "integer"}}}')
    Config.register_namespace(name, schema=str(file), env_prefix=prefix, defaults={"port": 8000})

    assert info(name)["has_schema"]
    assert Config.load(write("project.yaml", MINIMAL)).get(f"{name}.port") == 8000


@pytest.mark.req("R-9.5.1-05")
@pytest.mark.parametrize("prefix", ["Foo", "FOO_", "FOO__BAR", "_FOO", "1FOO", "FOO-BAR", ""])
def test_prefixes_that_are_refused(prefix):
    with pytest.raises(ConfigError) as caught:
        Config.register_namespace("billing", env_prefix=prefix)

    assert caught.value.code == "CONFIG_INVALID"
    assert info("billing") is None


@pytest.mark.req("R-9.5.1-07")
def test_styles():
    for number, style in enumerate(("auto", "nested", "flat", None)):
        Config.register_namespace(f"n{number}", env_style=style)
    with pytest.raises(ConfigError, match="auto, nested, flat"):
        Config.register_namespace("other", env_style="snake")

    assert [info(f"n{number}")["env_style"] for number in range(4)] == ["auto", "nested", "flat", "auto"]


@pytest.mark.parametrize("depth", [0, -1, "5", True, 1.5])
def test_depths_that_are_refused(depth):
    with pytest.raises(ConfigError, match="max_depth"):
        Config.register_namespace("billing", max_depth=depth)


def test_parts_of_the_wrong_kind_are_refused():
    for given in ({"defaults": [1]}, {"env_map": ["A"]}, {"schema": {"type": "nonsense"}}):
        with pytest.raises(ConfigError, match="billing"):
            Config.register_namespace("billing", **given)
    assert info("billing") is None


@pytest.mark.req("R-9.5.1-12")
@pytest.mark.parametrize("name", ["billing", "observability"])
def test_a_name_is_registered_once(name):
    if name == "billing":
        Config.register_namespace(name)
    with pytest.raises(ConfigNamespaceDuplicateError):
        Config.register_namespace(name, env_prefix="OTHER")


@pytest.mark.req("R-9.5.1-12")
def test_the_frameworks_other_namespace_is_a_duplicate_too():
    with pytest.raises(ConfigNamespaceDuplicateError):
        Config.register_namespace("sys_modules")


@pytest.mark.req("R-9.5.1-13", "R-9.5.1-14", "R-9.9.5-02")
def test_every_reserved_name_is_refused():
    for name in Config.reserved_namespaces():
        with pytest.raises(ConfigNamespaceReservedError):
            Config.register_namespace(name)


@pytest.mark.req("R-9.9.5-01")
def test_reserved_names_can_be_asked_for():
    reserved = Config.reserved_namespaces()

    assert reserved >= {"apcore", "_config"}
    assert isinstance(reserved, frozenset)


@pytest.mark.req("R-9.9.5-02")
def test_one_set_tells_and_refuses(monkeypatch):
    wider = Config.reserved_namespaces() | {"mine"}
    for room in ("namespaces", "bus"):
        monkeypatch.setattr(f"apcore.config.{room}.RESERVED_NAMESPACES", wider)

    with pytest.raises(ConfigNamespaceReservedError):
        Config.register_namespace("mine")
    from apcore.config import bus, namespaces

    monkeypatch.undo()
    assert bus.RESERVED_NAMESPACES is namespaces.RESERVED_NAMESPACES is Config.reserved_namespaces()


@pytest.mark.req("R-9.5.1-15")
def test_there_is_no_way_back():
    assert not hasattr(Config, "unregister_namespace")


@pytest.mark.req("R-9.8.2-01")
@pytest.mark.parametrize("prefix", ["BILLING", "APCORE_SYS", "APCORE_OBSERVABILITY"])
def test_a_prefix_has_one_owner(prefix):
    Config.register_namespace("billing")
    with pytest.raises(ConfigEnvPrefixConflictError) as caught:
        Config.register_namespace("other", env_prefix=prefix)

    assert prefix in caught.value.message


@pytest.mark.req("R-9.8.2-01")
def test_a_derived_prefix_may_be_the_one_that_is_taken():
    Config.register_namespace("other", env_prefix="MY_BILLING")
    with pytest.raises(ConfigEnvPrefixConflictError):
        Config.register_namespace("my-billing")


@pytest.mark.req("R-9.8.2-02")
@pytest.mark.parametrize(
    "prefix",
    [
        "APCORE_1X",
        "APCORE_ACL",
        "APCORE_EXECUTOR",
        "APCORE_ID",
        "APCORE_ID_MAP",
        "APCORE_PROJECT",
        "APCORE_VERSION",
        "APCORE_OBSERVABILITY_TRACING",
        "APCORE_SYS_X",
        "APCORE_ACL_DEFAULT",
    ],
)
def test_a_prefix_captures_no_variable_of_the_framework(prefix):
    with pytest.raises(ConfigEnvPrefixConflictError):
        Config.register_namespace("other", env_prefix=prefix)


@pytest.mark.req("R-9.8.2-03")
def test_the_prefix_of_the_framework_is_reserved():
    with pytest.raises(ConfigNamespaceReservedError):
        Config.register_namespace("x", env_prefix="APCORE")


@pytest.mark.req("R-9.8.2-05")
def test_the_prefix_of_django_conflicts_with_nothing():
    Config.register_namespace("django-apcore", env_prefix="DJANGO_APCORE")

    assert info("django-apcore")["env_prefix"] == "DJANGO_APCORE"


@pytest.mark.req("R-9.5.1-10")
def test_a_variable_is_mapped_once():
    Config.register_namespace("billing", env_map={"REDIS_URL": "cache_url"})
    Config.env_map({"PORT": "port"})

    with pytest.raises(ConfigEnvMapConflictError, match="REDIS_URL"):
        Config.register_namespace("other", env_map={"REDIS_URL": "url"})
    with pytest.raises(ConfigEnvMapConflictError, match="REDIS_URL"):
        Config.env_map({"REDIS_URL": "redis"})
    with pytest.raises(ConfigEnvMapConflictError, match="PORT"):
        Config.register_namespace("third", env_map={"PORT": "port"})


@pytest.mark.req("R-9.5.1-16")
def test_what_was_refused_leaves_no_trace():
    Config.env_map({"PORT": "port"})
    before = REGISTRY.snapshot()
    for given in ({"env_prefix": "APCORE_ACL"}, {"env_map": {"HOST": "host", "PORT": "port"}}):
        with pytest.raises(ModuleError):
            Config.register_namespace("billing", **given)
    with pytest.raises(ConfigEnvMapConflictError):
        Config.env_map({"HOST": "host", "PORT": "port"})

    assert REGISTRY.snapshot() == before
    Config.register_namespace("billing", env_map={"HOST": "host"})
    assert info("billing")["env_prefix"] == "BILLING"


@pytest.mark.req("R-9.12.3-01")
def test_many_threads_register_at_once():
    start = threading.Barrier(20)

    def register(number: int) -> int:
        start.wait()
        Config.register_namespace(f"own-{number}")
        try:
            Config.register_namespace("shared", env_map={"SHARED": "x"})
        except ConfigNamespaceDuplicateError:
            return 0
        return 1

    with ThreadPoolExecutor(20) as pool:
        successes = sum(pool.map(register, range(20)))

    assert successes == 1
    assert all(info(f"own-{number}") for number in range(20))


@pytest.mark.req("R-9.5.1-06", "R-9.5.1-11")
def test_defaults_are_the_lowest_layer(write):
    Config.register_namespace("billing", defaults={"port": 1, "host": "here"})

    config = Config.load(write("project.yaml", MINIMAL + "billing: {port: 2}\n"))

    assert config.namespace("billing") == {"port": 2, "host": "here"}


@pytest.mark.req("R-9.5.1-03")
def test_a_section_is_checked_only_with_a_schema(write, tmp_path):
    file = tmp_path / "port.schema.json"
    file.write_text('{"properties": {"port": {"type": "integer"}}}')
    Config.register_namespace("inline", {"properties": {"port": {"type": "integer"}}})
    Config.register_namespace("filed", file)
    Config.register_namespace("free")

    with pytest.raises(ConfigError) as caught:
        Config.load(write("project.yaml", MINIMAL + "inline: {port: a}\nfiled: {port: b}\nfree: {port: c}\n"))

    assert caught.value.details["paths"] == ["inline.port", "filed.port"]


def test_a_schema_file_that_is_missing_is_named_when_it_is_needed(write):
    Config.register_namespace("billing", "schemas/missing.schema.json")

    Config.load(write("project.yaml", MINIMAL))
    with pytest.raises(ConfigError, match=r"schema of namespace 'billing'.*missing\.schema\.json"):
        Config.load(write("project.yaml", MINIMAL + "billing: {}\n"))
    with pytest.raises(ConfigError, match="cannot be used"):
        Config.from_dict({"apcore": {}, "billing": {}})


@pytest.mark.req("R-9.5.3-01")
def test_instances_are_independent_and_share_the_registry(write):
    file = write("project.yaml", MINIMAL)
    Config.register_namespace("billing", defaults={"port": 1})
    one, other = Config.load(file), Config.load(file)

    one.set("billing.port", 2)

    assert (one.get("billing.port"), other.get("billing.port")) == (2, 1)


@pytest.mark.req("R-9.5.3-02", "R-9.5.3-03", "R-9.5.3-04")
def test_late_registration_counts_from_the_next_reload(write, monkeypatch):
    config = Config.load(write("project.yaml", MINIMAL + "apcore-x: {a: 1}\n"))
    before = config.data
    Config.register_namespace("billing", defaults={"port": 1, "host": "here"})
    monkeypatch.setenv("BILLING_PORT", "2")

    assert (config.get("billing.port"), config.data) == (None, before)
    config.reload()
    assert config.namespace("billing") == {"port": 2, "host": "here"}
    assert {name: config.data[name] for name in before} == before


@pytest.mark.req("R-9.5.2-01")
def test_the_printed_samples(write, monkeypatch):
    write("schemas/apflow.schema.json", '{"properties": {"api": {"type": "object"}}}')
    Config.register_namespace(
        "apflow", schema="schemas/apflow.schema.json", env_prefix="APFLOW", defaults={"api": {"timeout": 30.0}}
    )
    Config.register_namespace(
        "reach", env_prefix="REACHFORGE", env_style="flat", defaults={"devto_api_key": "", "llm_model": "gemini-pro"}
    )
    Config.register_namespace(
        "myapp",
        env_prefix="MYAPP",
        env_style="auto",
        defaults={"devto_api_key": "", "publish": {"delay": 5, "retry": 3}},
    )
    for name, value in {
        "APFLOW_API_TIMEOUT": "60",
        "REACHFORGE_LLM_MODEL": "other",
        "MYAPP_PUBLISH_DELAY": "7",
    }.items():
        monkeypatch.setenv(name, value)

    config = Config.load(write("project.yaml", MINIMAL))

    assert config.get("apflow.api.timeout") == 60
    assert config.namespace("reach") == {"devto_api_key": "", "llm_model": "other"}
    assert config.namespace("myapp") == {"devto_api_key": "", "publish": {"delay": 7, "retry": 3}}


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": None},
        {"name": 3},
        {"name": ["a"]},
        {"env_prefix": 3},
        {"env_map": {1: "a"}},
        {"env_map": {"": "a"}},
        {"env_map": {"A=B": "a"}},
        {"env_map": {"A": 1}},
        {"env_map": {"A": ""}},
        {"env_map": {"A": "a..b"}},
        {"schema": {"$ref": "#/nowhere"}},
    ],
    ids=str,
)
def test_what_cannot_be_registered_is_a_configuration_error_and_leaves_nothing_behind(arguments):
    before = REGISTRY.snapshot()
    with pytest.raises(ConfigError):
        Config.register_namespace(**{"name": "odd", **arguments})
    assert REGISTRY.snapshot() == before


@pytest.mark.parametrize("mapping", [None, [], {1: "a"}, {"A": ""}, {"A": "a."}, {"STRICT": "_config.strict"}], ids=str)
def test_a_global_env_map_that_is_none_is_refused(mapping):
    with pytest.raises(ConfigError):
        Config.env_map(mapping)
    assert REGISTRY.global_env_map == {}
