"""The values without any configuration (§9.1.1)."""

import pytest

import apcore
from apcore import Config
from apcore.config.documents import core_schema

MINIMAL = 'version: "1.0.0"\nproject: {name: my-project}\n'


@pytest.fixture(params=["defaults", "empty file", "namespaces"])
def core(request, write):
    """The section apcore, however it came about."""
    if request.param == "defaults":
        return Config.from_defaults().namespace("apcore")
    text = MINIMAL if request.param == "empty file" else 'apcore: {version: "1.0.0", project: {name: my-project}}\n'
    return Config.load(write("apcore.yaml", text)).namespace("apcore")


@pytest.mark.req("R-1.7-01")
def test_the_plain_names_are_at_the_top():
    from apcore import Config, Context, Executor, Module, Registry, module

    assert all([Config, Context, Executor, Module, Registry, module])
    assert apcore.Config is Config


@pytest.mark.req("R-9.1-05", "R-9.1-06")
def test_extensions(core):
    assert core["extensions"] == {
        "root": "./extensions",
        "auto_discover": True,
        "lazy_load": True,
        "follow_symlinks": False,
        "max_depth": 8,
        "ignore_patterns": [],
    }


@pytest.mark.req("R-9.1-07")
def test_schema(core):
    assert core["schema"] == {
        "root": "./schemas",
        "strategy": "yaml_first",
        "validation": {"strict": True, "coerce_types": True},
        "max_ref_depth": 32,
    }


@pytest.mark.req("R-9.1-08")
def test_acl(core):
    assert core["acl"] == {
        "root": "./acl",
        "default_effect": "deny",
        "audit": {"enabled": True, "log_level": "info", "include_denied": True},
    }


@pytest.mark.req("R-9.1-14", "R-9.1-15", "R-9.1-12")
def test_bindings_id_map_middleware_and_logging(core):
    assert core["bindings"] == {"dir": "./bindings", "files": [], "pattern": "*.binding.yaml"}
    assert core["id_map"] == {"auto_detect": True, "overrides": {}}
    assert core["middleware"] == {"disabled": []}
    assert core["logging"] == {"level": "info", "format": "json"}


@pytest.mark.req("R-9.1.1-04", "R-9.1.1-05", "R-9.1.1-06", "R-9.1.1-07")
def test_executor(core):
    assert core["executor"] == {
        "default_timeout": 30000,
        "global_timeout": 60000,
        "max_call_depth": 32,
        "max_module_repeat": 3,
    }


@pytest.mark.req("R-9.1-13", "R-9.1.1-08")
def test_observability_of_a_legacy_file(write):
    config = Config.load(write("apcore.yaml", MINIMAL))

    assert (config.get("observability.enabled"), config.get("observability.exporter")) == (True, "stdout")
    tracing, metrics = config.get("observability.tracing"), config.get("observability.metrics")
    assert (tracing["enabled"], tracing["sampling_rate"], tracing["exporter"]) == (True, 1.0, "stdout")
    assert metrics == {"enabled": True, "exporter": "stdout"}


@pytest.mark.req("R-9.1.1-09")
def test_directories_and_switches():
    config = Config.from_defaults()

    assert {key: config.get(key) for key in EXPECTED} == EXPECTED


EXPECTED = {
    "bindings.dir": "./bindings",
    "bindings.pattern": "*.binding.yaml",
    "id_map.auto_detect": True,
    "extensions.root": "./extensions",
    "schema.root": "./schemas",
    "acl.root": "./acl",
}


@pytest.mark.req("R-13.5-02")
@pytest.mark.parametrize("text", [MINIMAL, 'apcore:\n  version: "1.0.0"\n  project: {name: my-project}\n'])
def test_every_documented_key_has_a_value(write, text):
    config = Config.load(write("apcore.yaml", text))
    prefix = "apcore." if config.mode == "namespace" else ""

    without = [path for path in DOCUMENTED if config.get(prefix + path) is None]

    assert without == []
    assert {path.partition(".")[0] for path in DOCUMENTED} <= core_schema()["properties"].keys()


DOCUMENTED = [
    "extensions.root",
    "extensions.auto_discover",
    "extensions.lazy_load",
    "extensions.follow_symlinks",
    "extensions.max_depth",
    "extensions.ignore_patterns",
    "schema.root",
    "schema.strategy",
    "schema.validation.strict",
    "schema.validation.coerce_types",
    "schema.max_ref_depth",
    "acl.root",
    "acl.default_effect",
    "acl.audit.enabled",
    "acl.audit.log_level",
    "acl.audit.include_denied",
    "logging.level",
    "logging.format",
    "observability.enabled",
    "observability.exporter",
    "observability.tracing.enabled",
    "observability.tracing.sampling_rate",
    "observability.tracing.exporter",
    "observability.metrics.enabled",
    "observability.metrics.exporter",
    "middleware.disabled",
    "bindings.dir",
    "bindings.files",
    "bindings.pattern",
    "id_map.auto_detect",
    "id_map.overrides",
    "executor.default_timeout",
    "executor.global_timeout",
    "executor.max_call_depth",
    "executor.max_module_repeat",
]


@pytest.mark.req("R-9.12.1-03")
def test_defaults_need_no_project():
    config = Config.from_defaults()

    config.validate()
    assert (config.mode, config.get("version"), config.get("executor.max_call_depth")) == ("legacy", None, 32)
