"""Legacy and namespace mode, and the scenarios of §9.6."""

import pytest

from apcore import Config, detect_config_mode
from apcore.errors import ConfigError

MINIMAL = 'apcore: {version: "1.0.0", project: {name: a}, extensions: {auto_discover: false}}\n'


@pytest.mark.req("R-9.6.1-01", "R-9.4.1-02")
def test_the_mode_is_told_by_the_key_apcore():
    assert detect_config_mode({"version": "1.0.0"}) == "legacy"
    assert detect_config_mode({"apcore": {}}) == "namespace"
    assert detect_config_mode({"apcore": None}) == "namespace"
    assert Config.from_dict({"executor": {"max_call_depth": 5}}).get("executor.max_call_depth") == 5
    assert Config.from_dict({"apcore": {"executor": {"max_call_depth": 5}}}).get("apcore.executor.max_call_depth") == 5


@pytest.mark.req("R-9.6.1-01")
def test_an_empty_section_is_namespace_mode(write):
    with pytest.raises(ConfigError, match=r"apcore\.version"):
        Config.load(write("project.yaml", "apcore:\n"))


@pytest.mark.req("R-9.6.1-02")
def test_a_file_without_apcore_is_legacy_and_fails(write):
    with pytest.raises(ConfigError, match="version is required") as caught:
        Config.load(write("project.yaml", "apflow: {api: {}}\napcore-mcp: {port: 1}\n"))

    assert caught.value.code == "CONFIG_INVALID"


@pytest.mark.req("R-9.6.1-03")
def test_the_name_of_the_file_says_nothing(write):
    assert Config.load(write("project.yaml", 'version: "1.0.0"\nproject: {name: a}\n')).mode == "legacy"
    assert Config.load(write("apcore.yaml", MINIMAL)).mode == "namespace"


@pytest.mark.req("R-9.4.1-01", "R-9.9.1-02")
def test_an_old_file_reads_as_it_did(write):
    text = """
    version: "0.14.0"
    project: {name: my-project}
    extensions: {root: ./extensions}
    schema: {root: ./schemas}
    acl: {root: ./acl, default_effect: deny}
    executor: {default_timeout: 5000}
    """
    config = Config.load(write("apcore.yaml", text))

    assert config.get("executor.default_timeout") == 5000
    assert config.get("apcore.executor.default_timeout") is None
    assert config.namespace("apcore")["acl"]["root"] == "./acl"


@pytest.mark.req("R-9.6.2-01")
def test_four_layers(write, monkeypatch):
    Config.register_namespace("billing", defaults={"a": 1, "b": 1, "c": 1, "d": 1})
    config = Config.load(write("project.yaml", MINIMAL + "billing: {c: 3, d: 3}\n"))
    config.mount("billing", from_dict={"b": 2, "c": 2, "d": 2})
    monkeypatch.setenv("BILLING_D", "4")
    config.reload()

    assert config.namespace("billing") == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert [config.source(f"billing.{key}").kind for key in "abcd"] == ["default", "mount", "file", "environment"]


@pytest.mark.req("R-9.6.3-01", "R-9.6.3-03")
def test_an_unknown_namespace_is_stored_with_one_warning(write, caplog):
    config = Config.load(write("project.yaml", MINIMAL + "billing: {db: x}\n"))

    assert config.get("billing.db") == "x"
    assert ["billing" in record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [True]
    assert (config.get("_config.strict"), config.get("_config.allow_unknown")) == (False, True)


@pytest.mark.req("R-9.6.3-04")
def test_an_unknown_namespace_can_be_dropped_silently(write, caplog):
    config = Config.load(write("project.yaml", MINIMAL + "_config: {allow_unknown: false}\nbilling: {db: x}\n"))

    assert config.get("billing.db", "default") == "default"
    assert [record for record in caplog.records if record.levelname == "WARNING"] == []


@pytest.mark.req("R-9.6.3-02", "R-9.6.3-05", "R-9.12.4-01")
@pytest.mark.parametrize("allow_unknown", ["true", "false"])
def test_strict_mode(write, allow_unknown):
    text = MINIMAL + f"_config: {{strict: true, allow_unknown: {allow_unknown}}}\nbilling: {{db: x}}\n"
    with pytest.raises(ConfigError, match="'billing'") as caught:
        Config.load(write("project.yaml", text))

    assert caught.value.code == "CONFIG_INVALID"
    Config.register_namespace("billing")
    assert Config.load(write("project.yaml", text)).get("billing.db") == "x"


def test_strict_mode_suggests_what_was_meant(write):
    Config.register_namespace("billing")
    with pytest.raises(ConfigError, match="did you mean 'billing'"):
        Config.load(write("project.yaml", MINIMAL + "_config: {strict: true}\nbiling: {}\n"))


def test_the_switches_are_switches(write):
    with pytest.raises(ConfigError) as caught:
        Config.load(write("project.yaml", MINIMAL + "_config: {strict: please}\n"))

    assert caught.value.details["paths"] == ["_config.strict"]


def test_a_section_without_content_leaves_the_defaults():
    assert Config.from_dict({"acl": None}).get("acl.default_effect") == "deny"
    with pytest.raises(ConfigError, match=r"acl\.default_effect"):
        Config.from_dict({"acl": {"default_effect": None}})


CORE = """
apcore:
  version: "0.14.0"
  extensions: {root: ./extensions}
  project: {name: my-project}
"""
SCENARIOS = {
    "legacy": (
        'version: "0.14.0"\nproject: {name: my-project}\nextensions: {root: ./extensions}\nschema: {root: ./schemas}\n',
        [],
        {"project.name": "my-project"},
    ),
    "ecosystem": (
        CORE
        + "apflow: {api: {server_url: 'http://localhost:8000', timeout: 30.0}}\n"
        + "apcore-mcp: {transport: streamable-http, port: 8000, auth: {enabled: true}}\n"
        + "apcore-a2a: {name: My Agent, skills: [{name: data-analysis, module: executor.analyze}]}\n"
        + "apcore-cli: {theme: minimal, output_format: json}\n",
        ["apflow", "apcore-mcp", "apcore-a2a", "apcore-cli"],
        {
            "apflow.api.timeout": 30.0,
            "apcore-mcp.auth.enabled": True,
            "apcore-a2a.skills": [{"name": "data-analysis", "module": "executor.analyze"}],
            "apcore-cli.theme": "minimal",
        },
    ),
    "mount": (CORE, [], {"apcore.project.name": "my-project"}),
    "strict": (
        "_config: {strict: true}\n" + CORE + "apflow: {api: {server_url: x}}\napcore-mcp: {transport: stdio}\n",
        ["apflow", "apcore-mcp"],
        {"apflow.api.server_url": "x"},
    ),
    "framework": (
        CORE
        + "django-apcore: {auto_register_modules: true, url_prefix: /api/apcore, middleware: {enabled: true}}\n"
        + "fastapi-apcore: {route_prefix: /apcore, openapi: {include: true}}\n",
        ["django-apcore", "fastapi-apcore"],
        {"django-apcore.middleware.enabled": True, "fastapi-apcore.openapi.include": True},
    ),
}


@pytest.mark.req("R-9.6.4-01")
@pytest.mark.parametrize("name", SCENARIOS)
def test_scenarios(write, name):
    text, namespaces, expected = SCENARIOS[name]
    for each in namespaces:
        Config.register_namespace(each)

    config = Config.load(write("project.yaml", text))

    assert {path: config.get(path) for path in expected} == expected


@pytest.mark.req("R-9.1-09", "R-9.1-10", "R-9.1-11")
def test_shapes_that_appear_in_two_places():
    disabled = Config.from_dict({"middleware": {"disabled": ["metrics"]}})
    listed = Config.from_dict({"middleware": [{"id": "audit", "class": "a.b.C", "priority": 5}]})
    points = Config.from_dict({"extensions": {"root": ".", "discoverer": "pkg.Cls"}})

    assert disabled.get("middleware.disabled") == ["metrics"]
    assert listed.get("middleware")[0]["id"] == "audit"
    assert (points.get("extensions.discoverer"), points.get("extensions.max_depth")) == ("pkg.Cls", 8)
    limits = {"default_timeout": 1, "global_timeout": 2, "max_call_depth": 3, "max_module_repeat": 4}
    assert Config.from_dict({"executor": limits}).get("executor") == limits


@pytest.mark.req("R-10.2-04")
def test_where_the_log_level_is_set():
    legacy = Config.from_dict({"logging": {"level": "warn"}, "observability": {"logging": {"level": "debug"}}})
    fallback = Config.from_dict({"apcore": {"logging": {"level": "warn", "format": "text"}}})
    both = Config.from_dict(
        {"apcore": {"logging": {"level": "warn"}}, "observability": {"logging": {"level": "debug"}}}
    )

    assert legacy.namespace("observability")["logging"]["level"] == "warn"
    assert fallback.get("observability.logging.level") == "warn"
    assert fallback.get("observability.logging.format") == "text"
    assert both.get("observability.logging.level") == "debug"


def test_other_spellings_are_found_at_one_place():
    short = Config.from_dict({"obs": {"redaction": {"sensitive_keys": ["pin"]}}})
    older = Config.from_dict({"apcore": {"observability": {"tracing": {"sampling_strategy": "off"}}}})

    assert short.get("observability.redaction.sensitive_keys") == ["pin"]
    assert short.get("obs.redaction.sensitive_keys") == ["pin"]
    assert older.get("observability.tracing.strategy") == "off"


def test_the_meta_section_cannot_be_set_since_it_would_have_no_effect():
    config = Config.from_dict({"apcore": {}, "billing": {"rate": 1}})
    for change in (config.set, config.check):
        with pytest.raises(ConfigError, match="write it in the file"):
            change("_config.strict", True)
    assert config.get("_config.strict") is False
