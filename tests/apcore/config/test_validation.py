"""A12 and A12-NS: every error at once, each with its path (§9.3, §9.10)."""

import logging

import pytest

from apcore import Config, validate_config, validate_config_ns
from apcore.config import REGISTRY
from apcore.errors import ConfigError, VersionIncompatibleError

GOOD = {"version": "1.0.0", "project": {"name": "my-project"}}


def refused(data):
    """The error for this data."""
    with pytest.raises(ConfigError) as caught:
        Config.from_dict(data)
    return caught.value


def paths(error):
    return [each["path"] for each in error.details["errors"]]


@pytest.mark.req("R-9.1-01", "R-9.3-03")
@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("extensions.max_depth", "eight"),
        ("extensions.auto_discover", "yes"),
        ("extensions.ignore_patterns", "*.test.*"),
        ("schema.validation.strict", 1),
        ("acl.audit.enabled", "true"),
        ("bindings.files", {}),
        ("executor.default_timeout", "1s"),
        ("executor.max_call_depth", True),
        ("middleware.disabled", "metrics"),
        ("id_map.overrides", []),
        ("logging.level", "verbose"),
        ("logging.format", "xml"),
        ("observability.exporter", "zipkin"),
        ("observability.tracing.exporter", "zipkin"),
        ("project", "my-project"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_with_its_path(path, value):
    config = Config.from_defaults()
    config.set(path, value)

    with pytest.raises(ConfigError) as caught:
        config.validate()

    assert caught.value.code == "CONFIG_INVALID"
    assert [each.removesuffix(".0") for each in paths(caught.value)] == [path]
    assert path in caught.value.message


@pytest.mark.req("R-9.1-12", "R-9.1.1-08")
def test_what_may_stand_there_is_said():
    assert (
        "must be one of trace, debug, info, warn, error, fatal, not 'verbose'"
        in refused({"logging": {"level": "verbose"}}).message
    )


RANGES = {
    "extensions.max_depth": (1, 16),
    "schema.max_ref_depth": (1, 100),
    "executor.default_timeout": (0, 600000),
    "executor.global_timeout": (0, 600000),
    "executor.max_call_depth": (1, 1000),
    "executor.max_module_repeat": (1, 100),
}
REQUIREMENTS = ["01", "02", "04", "05", "06", "07"]


@pytest.mark.req("R-9.1.1-10")
@pytest.mark.parametrize(
    ("path", "low", "high"),
    [
        pytest.param(path, *limits, marks=pytest.mark.req(f"R-9.1.1-{number}"), id=path)
        for (path, limits), number in zip(RANGES.items(), REQUIREMENTS, strict=True)
    ],
)
def test_ranges(path, low, high):
    config = Config.from_defaults()

    for value in (low, high):
        config.set(path, value)
        config.validate()
    for value in (low - 1, high + 1):
        config.set(path, value)
        with pytest.raises(ConfigError, match=path):
            config.validate()


@pytest.mark.req("R-9.1.1-03", "R-9.3-04")
def test_constraints():
    error = refused({"acl": {"default_effect": "maybe"}, "observability": {"tracing": {"sampling_rate": 1.5}}})

    assert paths(error) == ["acl.default_effect", "observability.tracing.sampling_rate"]


@pytest.mark.req("R-9.3-04")
@pytest.mark.parametrize("section", ["extensions", "schema"])
def test_a_root_is_no_file(write, section):
    error = refused({section: {"root": str(write("a.txt", "x"))}})

    assert paths(error) == [f"{section}.root"]
    assert "is a file" in error.message


@pytest.mark.parametrize("root", ["", " ", "a\0b", 5])
def test_a_root_is_a_path(root):
    assert paths(refused({"extensions": {"root": root}})) == ["extensions.root"]


@pytest.mark.req("R-9.3-05")
def test_a_missing_extensions_directory_is_a_warning(caplog):
    with caplog.at_level(logging.WARNING, "apcore.config"):
        Config.from_dict({"extensions": {"root": "./missing"}})

    assert ["./missing" in record.getMessage() for record in caplog.records] == [True]


def test_no_warning_where_nothing_is_discovered(caplog):
    Config.from_dict({"extensions": {"root": "./missing", "auto_discover": False}})

    assert caplog.records == []


@pytest.mark.req("R-9.3-06")
def test_yaml_only_needs_its_directory(tmp_path):
    error = refused({"schema": {"strategy": "yaml_only", "root": "./missing"}})
    Config.from_dict({"schema": {"strategy": "yaml_only", "root": str(tmp_path)}})

    assert paths(error) == ["schema.root"]
    assert "yaml_only" in error.message


@pytest.mark.req("R-9.1-02", "R-9.1-03", "R-9.3-02")
def test_version_and_project_name_are_required(write):
    with pytest.raises(ConfigError) as caught:
        Config.load(write("apcore.yaml", "acl: {}\n"))

    assert paths(caught.value) == ["project.name", "version"]
    assert 'version: "1.0.0"' in caught.value.message
    assert "project: {name: my-project}" in caught.value.message
    assert caught.value.details["file"].endswith("apcore.yaml")


@pytest.mark.req("R-9.1-03", "R-9.1-04")
def test_names_and_versions():
    error = refused({"version": 1.0, "project": {"name": "My Project", "version": "abc"}})

    assert paths(error) == ["project.name", "project.version", "version"]
    assert "not 'My Project'" in error.message
    assert "put it in quotes" in error.message


@pytest.mark.req("R-9.3-01")
def test_the_merged_result_is_validated_and_the_variable_is_named(monkeypatch):
    monkeypatch.setenv("APCORE_EXTENSIONS_MAX_DEPTH", "99")

    error = refused(GOOD)

    assert paths(error) == ["extensions.max_depth"]
    assert "from environment APCORE_EXTENSIONS_MAX_DEPTH" in error.message


@pytest.mark.req("R-13.3-02", "R-13.3-01")
def test_both_version_tracks_load_and_others_do_not(write):
    for version in ("1.0.0", "0.14.0"):
        text = f'version: "{version}"\nproject: {{name: my-project}}\n'
        assert Config.load(write("apcore.yaml", text)).get("version") == version
    with pytest.raises(VersionIncompatibleError):
        Config.load(write("apcore.yaml", 'version: "2.0.0"\nproject: {name: my-project}\n'))


@pytest.mark.req("R-13.5-01")
def test_unknown_fields_are_ignored(caplog):
    config = Config.from_dict({"future": 1, "extensions": {"auto_discover": False}})

    assert config.get("future") == 1
    assert caplog.records == []


def test_a_mistyped_key_is_pointed_out(caplog):
    config = Config.from_dict({"extensions": {"auto_discover": False}, "acl": {"defualt_effect": "allow"}})

    assert [record.getMessage() for record in caplog.records] == [
        "Unknown configuration key 'acl.defualt_effect' is ignored; did you mean 'acl.default_effect'?"
    ]
    assert config.doubts() == ["'acl.defualt_effect' is not a known key; did you mean 'acl.default_effect'?"]


def test_a_mistyped_section_is_pointed_out():
    assert Config.from_dict({"executer": {"max_call_depth": 5}}, validate=False).doubts() == [
        "'executer' is not a known key; did you mean 'executor'?"
    ]


def test_the_algorithm_by_its_name():
    assert validate_config(GOOD) is GOOD
    with pytest.raises(ConfigError, match=r"project\.name"):
        validate_config({"version": "1.0.0"})


@pytest.mark.req("R-9.10-01")
def test_legacy_files_are_checked_the_same_way_at_load_and_later(write):
    file = write("apcore.yaml", "executor: {max_call_depth: 0}\nbilling: {port: x}\n")
    Config.register_namespace("billing", {"properties": {"port": {"type": "integer"}}})
    with pytest.raises(ConfigError) as at_load:
        Config.load(file)
    with pytest.raises(ConfigError) as later:
        Config.load(file, validate=False).validate()

    assert at_load.value.details == later.value.details
    assert paths(later.value) == ["executor.max_call_depth", "project.name", "version"]


@pytest.mark.req("R-9.10-02")
def test_the_section_apcore_is_checked_in_namespace_mode(write):
    with pytest.raises(ConfigError, match=r"apcore\.version is required"):
        Config.load(write("project.yaml", "apcore: {project: {name: a}}\n"))


@pytest.mark.req("R-9.10-03", "R-9.10-04", "R-9.12.4-01")
def test_all_errors_of_all_namespaces_come_together():
    Config.register_namespace("apflow", {"properties": {"api": {"properties": {"timeout": {"type": "number"}}}}})
    Config.register_namespace("billing", {"required": ["port"]})

    error = refused({"apcore": {"acl": {"default_effect": "x"}}, "apflow": {"api": {"timeout": "soon"}}, "billing": {}})

    assert paths(error) == ["apcore.acl.default_effect", "apflow.api.timeout", "billing.port"]
    messages = [each["message"] for each in error.details["errors"]]
    assert messages[1].startswith("apflow: ")
    assert messages[2].startswith("billing: ")
    assert error.code == "CONFIG_INVALID"


def test_a_section_is_a_mapping():
    Config.register_namespace("billing")

    assert paths(refused({"apcore": 5, "billing": 7})) == ["apcore", "billing"]


def test_the_algorithm_for_namespaces_by_its_name(caplog):
    data = {"apcore": GOOD, "billing": {"db": 1}}

    kept = validate_config_ns(data, "namespace", REGISTRY.namespaces, {"strict": False, "allow_unknown": True})
    dropped = validate_config_ns(data, "namespace", REGISTRY.namespaces, {"strict": False, "allow_unknown": False})

    assert (kept, dropped) == (data, {"apcore": GOOD})
    with pytest.raises(ConfigError, match="Unknown namespace 'billing'"):
        validate_config_ns(data, "namespace", REGISTRY.namespaces, {"strict": True})
    assert validate_config_ns(GOOD, "legacy", REGISTRY.namespaces, {}) == GOOD


def test_values_under_sensitive_names_are_not_repeated():
    Config.register_namespace("billing", {"properties": {"api_key": {"type": "string", "pattern": "^sk-"}}})

    error = refused({"apcore": {}, "billing": {"api_key": "hunter2hunter2"}})

    assert "hunter2" not in str(error) + str(error.details)
    assert paths(error) == ["billing.api_key"]


def test_a_meta_section_that_is_no_mapping_is_refused():
    error = refused({"apcore": {}, "_config": ["strict"]})
    assert paths(error) == ["_config"]


def test_a_misspelt_meta_key_is_told(caplog):
    with caplog.at_level(logging.WARNING, logger="apcore.config"):
        config = Config.from_dict({"apcore": {}, "_config": {"strct": True}})
    assert "'_config.strct' is ignored; did you mean '_config.strict'?" in caplog.text
    assert "'_config.strct' is not a known key; did you mean '_config.strict'?" in config.doubts()


def test_credentials_in_a_value_that_is_wrong_are_not_shown():
    error = refused({"acl": {"default_effect": "postgres://user:hunter2@db/x"}})
    assert "hunter2" not in f"{error} {error.details}"


def test_a_misspelt_key_of_the_built_in_namespaces_is_told(caplog):
    data = {"apcore": {}, "observability": {"tracing": {"enabld": True}}, "sys_modules": {"control": {"on": True}}}
    with caplog.at_level(logging.WARNING, logger="apcore.config"):
        config = Config.from_dict(data)
    told = [
        "'observability.tracing.enabld' is not a known key; did you mean 'observability.tracing.enabled'?",
        "'sys_modules.control.on' is not a known key",
    ]
    assert config.doubts() == told
    assert all(each.split(" ")[0] in caplog.text for each in told)
    assert Config.from_dict({"apcore": {}}).doubts() == []


@pytest.mark.req("R-9.10-01")
def test_the_core_needs_no_registration_to_be_known():
    data = {"apcore": GOOD, "other": {}}
    assert validate_config_ns(data, "namespace", {}, {"allow_unknown": False}) == {"apcore": GOOD}
    with pytest.raises(ConfigError) as caught:
        validate_config_ns(data, "namespace", {}, {"strict": True})
    assert paths(caught.value) == ["other"]
    with pytest.raises(ConfigError) as caught:
        validate_config_ns({"apcore": [1]}, "namespace", {}, {})
    assert paths(caught.value) == ["apcore"]
