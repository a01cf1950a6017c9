"""Where the configuration file is, and files that are none (§9.14)."""

import sys

import pytest

from apcore import Config, discover_config_file
from apcore.errors import ConfigError, ConfigNotFoundError

TEXT = 'version: "1.0.0"\nproject: {{name: {}}}\nextensions: {{auto_discover: false}}\n'


@pytest.mark.req("R-9.3-07")
def test_a_missing_file(write):
    with pytest.raises(ConfigNotFoundError, match=r"nope\.yaml") as caught:
        Config.load("nope.yaml")

    assert caught.value.code == "CONFIG_NOT_FOUND"


@pytest.mark.req("R-9.3-07")
@pytest.mark.parametrize("text", ["a: [1", "- 1", "a: 1\na: 2", "1: x", "\tx", "a: !!python/object:os.system 1"])
def test_what_is_no_configuration(write, text):
    file = write("apcore.yaml", text)
    with pytest.raises(ConfigError) as caught:
        Config.load(file)

    assert caught.value.code == "CONFIG_INVALID"
    assert str(file) in caught.value.message
    assert caught.value.message.startswith("Configuration file")


def test_bytes_that_are_no_text(write):
    file = write("apcore.yaml", "")
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError):
        Config.load(file)


def test_a_directory_is_no_file(tmp_path):
    with pytest.raises(ConfigNotFoundError):
        Config.load(tmp_path)


def test_an_empty_file_lacks_the_required_fields(write):
    with pytest.raises(ConfigError) as caught:
        Config.load(write("apcore.yaml", "\n"))

    assert caught.value.details["paths"] == ["project.name", "version"]


PLACES = [
    "../home/.apcore/config.yaml",
    "../home/.config/apcore/config.yaml",
    "apcore.yml",
    "apcore.yaml",
    "project.yml",
    "project.yaml",
]


@pytest.mark.req("R-9.14-01")
def test_the_first_place_wins(write, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    for number, place in enumerate(PLACES):
        write(place, TEXT.format(f"p{number}"))
        assert Config.load().get("project.name") == f"p{number}"
    monkeypatch.setenv("APCORE_CONFIG_FILE", str(write("elsewhere/x.yaml", TEXT.format("named"))))
    assert Config.load().get("project.name") == "named"


@pytest.mark.req("R-9.14-02")
def test_the_users_directory(write, monkeypatch, tmp_path):
    linux, xdg = write("../home/.config/apcore/config.yaml", ""), write("xdg/apcore/config.yaml", "")
    mac = write("../home/Library/Application Support/apcore/config.yaml", "")

    monkeypatch.setattr(sys, "platform", "linux")
    assert discover_config_file().samefile(linux)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "work" / "xdg"))
    assert discover_config_file().samefile(xdg)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert discover_config_file().samefile(mac)


def test_a_named_file_must_exist(monkeypatch):
    monkeypatch.setenv("APCORE_CONFIG_FILE", "missing.yaml")
    with pytest.raises(ConfigNotFoundError, match=r"missing\.yaml"):
        Config.load()


@pytest.mark.req("R-9.14-03", "R-9.14-04")
def test_without_a_file_the_defaults_count():
    assert discover_config_file() is None
    assert Config.load().data == Config.from_defaults().data
    assert Config.load().file is None


def test_a_file_that_appears_is_found_at_the_next_reload(write):
    config = Config.load()
    write("apcore.yaml", TEXT.format("found"))
    config.reload()

    assert (config.get("project.name"), config.file.name) == ("found", "apcore.yaml")


@pytest.mark.parametrize("path", [3, b"apcore.yaml", "", "a\0b"], ids=repr)
def test_what_can_name_no_file_is_a_configuration_error(path):
    with pytest.raises(ConfigError) as caught:
        Config.load(path)
    assert caught.value.code == "CONFIG_INVALID"


@pytest.mark.parametrize("data", [None, [], 3, "text"], ids=repr)
def test_data_that_is_no_mapping_is_a_configuration_error(data):
    with pytest.raises(ConfigError, match="is a mapping, not"):
        Config.from_dict(data)
