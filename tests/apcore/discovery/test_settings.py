from pathlib import Path

import pytest

from apcore.discovery import DiscoverySettings, ScanSettings
from apcore.errors import ConfigError


@pytest.mark.req("R-3.4-01", "R-3.4-02", "R-2.1.1-02", "R-3.1-02")
def test_the_defaults_are_the_careful_ones():
    settings = DiscoverySettings.read(None)

    assert settings.scan == ScanSettings(follow_symlinks=False, max_depth=8, ignore_patterns=())
    assert (settings.roots, settings.multi_class, settings.commands) == ((Path("extensions"),), False, None)
    assert (settings.bindings_dir, settings.has_named_bindings) == (Path("bindings"), False)


def test_a_directory_is_part_of_a_project():
    settings = DiscoverySettings.read("site/extensions")

    assert (settings.roots, settings.bindings_dir) == ((Path("site/extensions"),), Path("site/bindings"))
    assert DiscoverySettings.read(settings) is settings


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("extensions.root", 5),
        ("extensions.follow_symlinks", "no"),
        ("extensions.max_depth", "8"),
        ("extensions.max_depth", True),
        ("extensions.ignore_patterns", "*.x"),
        ("extensions.ignore_patterns", [1]),
        ("extensions.multi_class", "false"),
        ("bindings.dir", 5),
        ("bindings.files", "a.binding.yaml"),
        ("bindings.pattern", ["*"]),
        ("conventions.enabled", 1),
        ("schema.root", []),
        ("schema.max_ref_depth", "3"),
        ("schema.strategy", "newest"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_by_name(key, value):
    section, _, name = key.partition(".")

    with pytest.raises(ConfigError, match=key) as caught:
        DiscoverySettings.read({section: {name: value}})
    assert caught.value.details["field"] == key


def test_what_is_no_configuration_is_refused():
    with pytest.raises(ConfigError, match="get"):
        DiscoverySettings.read(5)
