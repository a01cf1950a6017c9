import pytest

from apcore.errors import ConfigError, ModuleNotFoundError, VersionIncompatibleError
from apcore.registry import resolve_module_id

VERSIONS = {"a.db": "1.4.0", "a.db_v2": "2.1.0", "a.db_v10": "10.0.0", "a.other": "3.0.0"}


@pytest.mark.req("R-5.4-01", "R-2.4-02", "R-5.4-02")
@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("a.db@2", "a.db_v2"),
        ("a.db@v2", "a.db_v2"),
        ("a.db@2.1.0", "a.db_v2"),
        ("a.db@v2.1.0", "a.db_v2"),
        ("a.db@1", "a.db"),
        ("a.db@^1.2.0", "a.db"),
        ("a.db@>=1.0.0,<3.0.0", "a.db_v2"),
        ("a.db@latest", "a.db_v10"),
    ],
)
def test_a_reference_selects_a_version(reference, expected):
    assert resolve_module_id(reference, VERSIONS) == expected


@pytest.mark.req("R-5.4-03")
def test_without_a_version_the_latest_is_selected():
    assert resolve_module_id("a.db", VERSIONS) == "a.db_v10"
    assert resolve_module_id("a.other", VERSIONS) == "a.other"
    assert resolve_module_id("a.db_v2", VERSIONS) == "a.db_v2"


@pytest.mark.req("R-5.3-07")
@pytest.mark.parametrize(("strategy", "expected"), [("highest", "a.db_v10"), ("lowest", "a.db"), ("locked", "a.db")])
def test_the_strategy_decides_among_those_that_fit(strategy, expected):
    assert resolve_module_id("a.db", VERSIONS, strategy) == expected


@pytest.mark.parametrize("reference", ["a.db@3", "a.db@7.0.0", "a.nothing", "db", ""])
def test_what_nothing_fits_is_not_found(reference):
    with pytest.raises(ModuleNotFoundError) as caught:
        resolve_module_id(reference, VERSIONS)
    assert caught.value.details == {"module_id": reference}


def test_modules_may_have_short_versions():
    versions = {"a.db": "1.2", "a.db_v2": "2"}

    assert [resolve_module_id(f"a.db@{each}", versions) for each in ("1", "^1.1.0", "2.0.0")] == [
        "a.db",
        "a.db",
        "a.db_v2",
    ]


def test_a_locked_reference_takes_no_other_version():
    with pytest.raises(ModuleNotFoundError):
        resolve_module_id("a.db@2", VERSIONS, "locked")


def test_what_is_no_version_and_no_strategy_is_refused():
    with pytest.raises(VersionIncompatibleError):
        resolve_module_id("a.db@newest", VERSIONS)
    with pytest.raises(ConfigError, match="highest"):
        resolve_module_id("a.db", VERSIONS, "newest")
