"""Other sources (§9.7)."""

import logging

import pytest

from apcore import Config
from apcore.errors import ConfigError, ConfigMountError

MINIMAL = 'apcore: {version: "1.0.0", project: {name: a}, extensions: {auto_discover: false}}\n'


@pytest.fixture
def config(write):
    return Config.load(write("project.yaml", MINIMAL))


@pytest.mark.req("R-9.7.1-01")
@pytest.mark.parametrize("given", [{}, {"from_file": "a.yaml", "from_dict": {}}, {"from_dict": [1]}])
def test_exactly_one_source(config, given):
    with pytest.raises(ConfigMountError) as caught:
        config.mount("billing", **given)

    assert caught.value.code == "CONFIG_MOUNT_ERROR"


@pytest.mark.parametrize("name", ["", "a.b"])
def test_a_name_without_dots(config, name):
    with pytest.raises(ConfigMountError):
        config.mount(name, from_dict={})


@pytest.mark.req("R-9.7.1-02")
def test_a_registered_namespace_is_checked_below_the_environment(config, monkeypatch):
    Config.register_namespace("billing", {"properties": {"port": {"type": "integer"}}}, defaults={"host": "here"})
    before = config.data
    with pytest.raises(ConfigError, match=r"billing: port must be integer"):
        config.mount("billing", from_dict={"port": "x"})
    assert config.data == before

    monkeypatch.setenv("BILLING_PORT", "2")
    config.mount("billing", from_dict={"port": 1})
    assert config.namespace("billing") == {"host": "here", "port": 2}


@pytest.mark.req("R-9.7.1-03")
def test_an_unregistered_namespace_is_stored_with_a_warning(config, caplog):
    with caplog.at_level(logging.WARNING, "apcore.config"):
        config.mount("free", from_dict={"a": 1})

    assert config.get("free.a") == 1
    assert ["free" in record.getMessage() for record in caplog.records] == [True]


@pytest.mark.req("R-9.7.1-04")
def test_data_is_merged_below_the_file_and_above_defaults(write):
    Config.register_namespace("billing", defaults={"db": {"host": "d", "port": 1, "name": "d"}})
    config = Config.load(write("project.yaml", MINIMAL + "billing: {db: {host: file}}\n"))
    config.mount("billing", from_dict={"db": {"host": "m", "port": 2}})
    config.mount("billing", from_dict={"db": {"user": "later"}})

    assert config.get("billing.db") == {"host": "file", "port": 2, "name": "d", "user": "later"}


@pytest.mark.req("R-9.7.1-05")
@pytest.mark.parametrize(
    "text", [MINIMAL, 'version: "1.0.0"\nproject: {name: a}\nextensions: {auto_discover: false}\n']
)
def test_mounting_to_apcore_is_allowed_with_a_warning(write, caplog, text):
    config = Config.load(write("a.yaml", text))
    with caplog.at_level(logging.WARNING, "apcore.config"):
        config.mount("apcore", from_dict={"executor": {"max_call_depth": 7}, "project": {"name": "b"}})

    core = config.namespace("apcore")
    assert (core["executor"]["max_call_depth"], core["project"]["name"]) == (7, "a")
    warned = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert ["'apcore'" in text for text in warned] == [True]


def test_what_is_mounted_to_apcore_is_checked(config):
    with pytest.raises(ConfigError, match=r"max_call_depth.*from mount"):
        config.mount("apcore", from_dict={"executor": {"max_call_depth": 0}})

    assert config.get("apcore.executor.max_call_depth") == 32


@pytest.mark.req("R-9.7.1-06")
def test_the_meta_configuration_cannot_be_mounted(config):
    with pytest.raises(ConfigMountError):
        config.mount("_config", from_dict={"strict": True})


@pytest.mark.req("R-9.7.1-07")
def test_files_that_cannot_be_read(config, write):
    for file in ("missing.yaml", write("broken.yaml", "a: [1"), write("list.yaml", "- 1")):
        with pytest.raises(ConfigMountError) as caught:
            config.mount("billing", from_file=file)
        assert caught.value.__cause__ is not None
        assert str(file) in caught.value.message


@pytest.mark.req("R-9.7.1-08")
def test_the_data_is_copied(config):
    data = {"db": {"host": "a"}}
    config.mount("billing", from_dict=data)
    data["db"]["host"] = "changed"
    config.reload()

    assert config.get("billing.db.host") == "a"


@pytest.mark.req("R-9.7.2-01")
def test_mounts_and_a_unified_file_give_the_same(config, write):
    config.mount("billing", from_file=write("billing.yaml", "db: {host: h}\n"))
    config.mount("notifications", from_dict={"provider": "ses"})
    unified = Config.load(write("unified.yaml", MINIMAL + "billing: {db: {host: h}}\nnotifications: {provider: ses}\n"))

    for name in ("billing", "notifications"):
        assert config.namespace(name) == unified.namespace(name)
    assert config.source("billing.db.host").detail.endswith("billing.yaml")


def test_a_label_says_where_a_value_comes_from(config):
    config.mount("billing", from_dict={"port": 1}, label="settings")

    assert str(config.source("billing.port")) == "settings"


def test_mounts_of_a_legacy_configuration_are_checked(write):
    Config.register_namespace("billing", {"properties": {"port": {"type": "integer"}}})
    config = Config.from_defaults()
    with pytest.raises(ConfigError):
        config.mount("billing", from_dict={"port": "x"})
    config.mount("billing", from_dict={"port": 1})
    config.set("billing.port", "x")

    with pytest.raises(ConfigError, match=r"billing: port"):
        config.validate()
    assert "billing" not in config.namespace("apcore")


@pytest.mark.parametrize(
    ("namespace", "source"),
    [(3, {"from_dict": {}}), (("a",), {"from_dict": {}}), ("bill", {"from_file": 3}), ("bill", {"from_file": "a\0b"})],
)
def test_what_is_of_another_type_cannot_be_mounted(namespace, source):
    with pytest.raises(ConfigMountError):
        Config.from_defaults().mount(namespace, **source)
