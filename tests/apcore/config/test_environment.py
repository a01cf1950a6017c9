"""Environment variables (§9.2, §9.8)."""

import pytest

from apcore import Config, auto_resolve, dispatch_env_var
from apcore.config import Namespace, apply_namespace_env_overrides, coerce_env_value
from apcore.config.environment import environment_overrides, key_of, nested_path
from apcore.errors import InvalidInputError

LEGACY = 'version: "1.0.0"\nproject: {name: a}\n'
NAMESPACES = 'apcore: {version: "1.0.0", project: {name: a}}\n'


def overrides(environ, *namespaces, **more):
    return environment_overrides({each.name: each for each in namespaces}, environ, **more).data


def test_the_algorithm_takes_the_environment_of_the_process_and_leaves_its_tree_alone(monkeypatch):
    tree, namespace = {"my-app": {"size": 1, "name": "a"}}, Namespace("my-app", env_prefix="MY_APP")
    monkeypatch.setenv("MY_APP_SIZE", "2")

    assert apply_namespace_env_overrides(tree, {"my-app": namespace}) == {"my-app": {"size": 2, "name": "a"}}
    assert (
        apply_namespace_env_overrides(tree, {"my-app": namespace}, {}) == tree == {"my-app": {"size": 1, "name": "a"}}
    )


def test_the_algorithm_gives_a_tree_of_its_own():
    tree = {"my-app": {"size": 1}, "other": {"list": [{"a": 1}]}}

    result = apply_namespace_env_overrides(tree, {}, {}, {})
    result["other"]["list"][0]["a"] = 2
    assert tree == {"my-app": {"size": 1}, "other": {"list": [{"a": 1}]}}


@pytest.mark.parametrize("data", [None, "text", 5, [("a", 1)]])
def test_the_algorithm_refuses_what_is_no_tree(data):
    with pytest.raises(InvalidInputError, match="config_data must be an object"):
        apply_namespace_env_overrides(data, {}, {})


@pytest.mark.req("R-9.2-01", "R-9.2-02")
def test_three_layers(write, monkeypatch):
    assert Config.load(write("apcore.yaml", LEGACY)).get("extensions.root") == "./extensions"

    file = write("apcore.yaml", LEGACY + "extensions: {root: ./from-file}\n")
    assert Config.load(file).get("extensions.root") == "./from-file"

    monkeypatch.setenv("APCORE_EXTENSIONS_ROOT", "./ext")
    assert Config.load(file).get("extensions.root") == "./ext"


@pytest.mark.req("R-9.2-03", "R-9.6.2-02")
@pytest.mark.parametrize("prefix", ["", "apcore."])
@pytest.mark.parametrize(
    ("name", "value", "path", "expected"),
    [
        ("APCORE_EXTENSIONS_ROOT", "./ext", "extensions.root", "./ext"),
        ("APCORE_SCHEMA_VALIDATION_STRICT", "false", "schema.validation.strict", False),
        ("APCORE_ACL_DEFAULT_EFFECT", "allow", "acl.default_effect", "allow"),
        ("APCORE_LOGGING_LEVEL", "debug", "logging.level", "debug"),
        ("APCORE_OBSERVABILITY_TRACING_ENABLED", "false", "observability.tracing.enabled", False),
        ("APCORE_EXECUTOR_DEFAULT_TIMEOUT", "5000", "executor.default_timeout", 5000),
        ("APCORE_MIDDLEWARE_DISABLED", "metrics,tracing", "middleware.disabled", ["metrics", "tracing"]),
        ("APCORE_PROJECT_NAME", "b", "project.name", "b"),
    ],
)
def test_the_documented_names(write, monkeypatch, prefix, name, value, path, expected):
    monkeypatch.setenv(name, value)

    config = Config.load(write("apcore.yaml", NAMESPACES if prefix else LEGACY))

    assert config.get(prefix + path) == expected


@pytest.mark.req("R-9.8.1-04", "R-9.2-04")
@pytest.mark.parametrize(("text", "prefix"), [(LEGACY, ""), (NAMESPACES, "apcore.")])
def test_the_double_underscore_counts_and_wins(write, monkeypatch, text, prefix):
    monkeypatch.setenv("APCORE_EXECUTOR_DEFAULT__TIMEOUT", "5000")
    monkeypatch.setenv("APCORE_EXECUTOR_DEFAULT_TIMEOUT", "6000")

    config = Config.load(write("apcore.yaml", text))

    assert config.get(f"{prefix}executor.default_timeout") == 5000
    assert isinstance(config.get(f"{prefix}executor.default_timeout"), int)
    assert config.get(f"{prefix}executor.default") is None


@pytest.mark.req("R-9.2-04")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("5000", 5000),
        ("-3", -3),
        ("0", 0),
        ("1.5", 1.5),
        ("-.5", -0.5),
        ("1e3", 1000.0),
        ("007", "007"),
        ("1_000", "1_000"),
        ("nan", "nan"),
        ("inf", "inf"),
        ("", ""),
        ("yes", "yes"),
        ("1.2.3", "1.2.3"),
        ("٣", "٣"),
    ],
)
def test_coercion(text, value):
    coerced = coerce_env_value(text)

    assert (coerced, type(coerced)) == (value, type(value))


def test_where_the_schema_wants_a_text_it_stays_one():
    assert coerce_env_value("12345", {"type": "string"}) == "12345"
    assert coerce_env_value("true", {"type": ["string", "null"]}) == "true"
    assert coerce_env_value("12345", {"type": ["string", "integer"]}) == 12345


def test_lists_and_objects_are_written_as_json_or_with_commas():
    assert coerce_env_value("a, b,", {"type": "array"}) == ["a", "b"]
    assert coerce_env_value('["a,b"]', {"type": "array"}) == ["a,b"]
    assert coerce_env_value('{"a": 1}', {"type": "object"}) == {"a": 1}
    assert coerce_env_value("a", {"type": "object"}) == "a"


@pytest.mark.req("R-9.8.1-01")
@pytest.mark.parametrize(
    ("suffix", "path"),
    [
        ("API_SERVER__URL", "api.server_url"),
        ("API_TIMEOUT", "api.timeout"),
        ("GOVERNANCE_DEFAULT__POLICY", "governance.default_policy"),
    ],
)
def test_nested_style(suffix, path):
    assert key_of(suffix, Namespace("apflow", env_style="nested")) == path


@pytest.mark.req("R-9.8.1-02")
@pytest.mark.parametrize(
    ("suffix", "path"),
    [("A_B_C_D_E", "a.b.c.d.e"), ("A_B_C_D_E_F_G", "a.b.c.d.e_f_g"), ("A_B_C_D_E_F_G_H", "a.b.c.d.e_f_g_h")],
)
def test_depth(suffix, path):
    assert nested_path(suffix, 5) == path
    assert auto_resolve(suffix, None, 0, 5) == path


@pytest.mark.req("R-9.8.1-03", "R-9.8.2-04")
def test_the_longest_prefix_wins(write, monkeypatch):
    Config.register_namespace("apcore-mcp")
    for name, value in {
        "APCORE_MCP_TRANSPORT": "stdio",
        "APCORE_MCP_PORT": "9000",
        "APCORE_LOGGING_LEVEL": "warn",
    }.items():
        monkeypatch.setenv(name, value)

    config = Config.load(write("project.yaml", NAMESPACES))

    assert config.namespace("apcore-mcp") == {"transport": "stdio", "port": 9000}
    assert config.get("apcore.logging.level") == "warn"
    assert config.get("apcore.mcp") is None


@pytest.mark.req("R-9.8.2-04")
def test_dispatch_by_its_name():
    prefixes = [("APCORE_", "apcore"), ("APCORE_MCP_", "apcore-mcp")]

    assert dispatch_env_var("APCORE_MCP_X", prefixes) == ("apcore-mcp", "X")
    assert dispatch_env_var("APCORE_X", prefixes) == ("apcore", "X")
    assert dispatch_env_var("APCORE_MCP", prefixes) == ("apcore", "MCP")
    assert dispatch_env_var("PATH", prefixes) is None


@pytest.mark.req("R-9.8.1-05", "R-9.5.1-08")
def test_flat_style():
    reach = Namespace("reach", env_prefix="REACHFORGE", env_style="flat", max_depth=1)

    assert overrides(
        {"REACHFORGE_DEVTO_API_KEY": "abc", "REACHFORGE_PUBLISH_DELAY": "5", "REACHFORGE_": "x"}, reach
    ) == {"reach": {"devto_api_key": "abc", "publish_delay": 5}}


REACH = Namespace("reach", env_prefix="REACHFORGE", defaults={"devto_api_key": "", "publish": {"delay": 5, "retry": 3}})


@pytest.mark.parametrize(
    ("suffix", "key"),
    [
        pytest.param("DEVTO_API_KEY", "devto_api_key", marks=pytest.mark.req("R-9.8.1-06")),
        pytest.param("PUBLISH_DELAY", "publish.delay", marks=pytest.mark.req("R-9.8.1-07")),
        pytest.param("PUBLISH_RETRY", "publish.retry", marks=pytest.mark.req("R-9.8.1-07")),
        pytest.param("NEW_UNKNOWN", "new.unknown", marks=pytest.mark.req("R-9.8.1-08")),
    ],
)
def test_auto_style(suffix, key):
    assert key_of(suffix, REACH) == key


@pytest.mark.req("R-9.8.1-09")
def test_auto_style_at_its_depth():
    assert auto_resolve("A_B_C", {"a": {"b": {"c": 1}}}, 0, 1) == "a.b_c"


@pytest.mark.req("R-9.8.1-10")
def test_auto_style_without_defaults_is_nested():
    assert key_of("A__B_C", Namespace("x")) == "a_b.c"


def test_a_mapping_that_begins_like_a_longer_key_does_not_hide_it():
    # C-03: the fallback belongs to the outermost call.
    assert auto_resolve("A_B_C", {"a": {"x": 1}, "a_b": {"c": 1}}, 0, 5) == "a_b.c"


@pytest.mark.req("R-9.8.1-11")
def test_the_simple_form_is_accepted_for_keys_with_underscores():
    apflow = Namespace("apflow", env_prefix="APFLOW", defaults={"api": {"server_url": ""}})

    for name in ("APFLOW_API_SERVER_URL", "APFLOW_API_SERVER__URL"):
        assert overrides({name: "http://x"}, apflow) == {"apflow": {"api": {"server_url": "http://x"}}}


def test_names_without_a_key_are_left_alone():
    apcore = Namespace("apcore", env_prefix="APCORE")

    assert overrides({"APCORE_": "1", "APCORE__X": "2", "APCORE_A_": "3", "APCORE": "4"}, apcore) == {}


@pytest.mark.req("R-9.5.1-09", "R-9.8.3-02")
def test_bare_variables(write, monkeypatch):
    Config.register_namespace("billing", defaults={"cache_url": "x"}, env_map={"REDIS_URL": "cache_url"})
    Config.env_map({"PORT": "port"})
    monkeypatch.setenv("REDIS_URL", "redis://here")
    monkeypatch.setenv("PORT", "80")

    config = Config.load(write("project.yaml", NAMESPACES + "billing: {cache_url: from-file}\n"))

    assert (config.get("billing.cache_url"), config.get("port")) == ("redis://here", 80)
    assert str(config.source("billing.cache_url")) == "environment REDIS_URL"


def test_a_mapped_top_level_key_is_no_unknown_namespace(write, monkeypatch):
    Config.env_map({"PORT": "port"})
    monkeypatch.setenv("PORT", "80")

    assert Config.load(write("project.yaml", NAMESPACES + "_config: {strict: true}\n")).get("port") == 80


@pytest.mark.req("R-9.8.3-01")
def test_the_first_hit_ends_it():
    billing = Namespace("billing", env_prefix="BILLING", env_map={"BILLING_HOST": "host_name"})

    found = overrides({"BILLING_PORT": "1", "BILLING_HOST": "h"}, billing, global_env_map={"BILLING_PORT": "port"})

    assert found == {"port": 1, "billing": {"host_name": "h"}}


def test_a_prefixed_variable_beats_a_bare_one():
    billing = Namespace("billing", env_prefix="BILLING", env_map={"A_URL": "url", "Z_URL": "url"})

    assert overrides({"Z_URL": "bare", "BILLING_URL": "prefixed", "A_URL": "bare"}, billing) == {
        "billing": {"url": "prefixed"}
    }


@pytest.mark.req("R-9.8.3-03")
def test_other_variables_change_nothing(write, monkeypatch):
    file = write("project.yaml", NAMESPACES)
    monkeypatch.setenv("PATH", "/bin")
    with_them = Config.load(file).data
    for name in ("HOME", "PATH"):
        monkeypatch.delenv(name)

    assert Config.load(file).data == with_them


@pytest.mark.req("R-9.8.3-04")
def test_derived_prefixes_take_part(write, monkeypatch):
    Config.register_namespace("my-billing")
    monkeypatch.setenv("MY_BILLING_PORT", "5")

    assert Config.load(write("project.yaml", NAMESPACES)).get("my-billing.port") == 5


@pytest.mark.req("R-9.8.3-05")
def test_the_variable_that_names_the_file_is_no_key(write, monkeypatch):
    monkeypatch.setenv("APCORE_CONFIG_FILE", str(write("x.yaml", LEGACY)))

    config = Config.load()

    assert (config.get("version"), config.get("config")) == ("1.0.0", None)


def test_secrets_of_other_programs_stay_out_of_the_tree(write, monkeypatch):
    for name, value in {
        "APCORE_SECRET_KEY": "k",
        "APCORE_SECRET_KEY_FALLBACKS": "k",
        "APCORE_DATABASE_PASSWORD": "k",
        "APCORE_DATABASE_URL": "postgresql://user:k@here/db",
        "APCORE_BROKER_URL": "redis://here/0",
        "APCORE_DB_PASSWORD": "mine",
    }.items():
        monkeypatch.setenv(name, value)

    config = Config.load(write("apcore.yaml", LEGACY + "db: {password: x}\n"))

    assert [config.get(name) for name in ("secret", "database", "broker.url")] == [None, None, "redis://here/0"]
    assert config.get("db.password") == "mine", "a key of the file can be overridden, whatever its name"


@pytest.mark.parametrize("text", ["1e999", "-1e999", "9" * 5000])
def test_a_number_beyond_all_bounds_stays_a_text(text):
    assert coerce_env_value(text) == text
