import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.errors import VersionIncompatibleError
from apcore.versions import Version, negotiate_version, satisfies

numbers = st.integers(0, 12)
versions = st.builds(Version, numbers, numbers, numbers, st.sampled_from(["", "alpha", "beta", "rc", "rc.1", "draft"]))


@pytest.mark.req("R-13.1-01")
@pytest.mark.parametrize("text", ["1.0", "a.b.c", "", "1", "01.0.0", "1.0.0-", "1.0.0.0", "v1.0.0", "1.0.0 rc"])
def test_texts_that_are_no_versions(text):
    with pytest.raises(VersionIncompatibleError):
        Version.parse(text)


@pytest.mark.parametrize("value", [None, 1.2, 1, ["1.0.0"]])
def test_what_is_no_text_is_no_version(value):
    with pytest.raises(VersionIncompatibleError):
        negotiate_version(value, "1.3.0")


@pytest.mark.req("R-13.1-01")
@given(versions)
def test_versions_are_read_back(version):
    assert Version.parse(str(version)) == version


def test_order():
    ordered = [
        "0.9.0",
        "1.0.0-alpha",
        "1.0.0-beta",
        "1.0.0-rc.2",
        "1.0.0-rc.10",
        "1.0.0",
        "1.0.1",
        "1.9.0",
        "1.10.0",
        "2.0.0",
    ]

    assert sorted(map(Version.parse, reversed(ordered))) == list(map(Version.parse, ordered))


@pytest.mark.req("R-5.3-03")
@pytest.mark.parametrize(
    ("constraint", "inside", "outside"),
    [
        ("1.0.0", ["1.0.0"], ["1.0.1", "1.0.0-rc"]),
        ("=1.0.0", ["1.0.0"], ["1.0.1"]),
        ("!=1.0.0", ["1.0.1"], ["1.0.0"]),
        (">=1.0.0", ["1.0.0", "2.0.0"], ["0.9.9", "1.0.0-rc"]),
        (">1.0.9", ["1.0.10"], ["1.0.9"]),
        ("<2.0.0", ["1.9.9"], ["2.0.0"]),
        ("<=2.0.0", ["2.0.0"], ["2.0.1"]),
        (">=1.0.0,<2.0.0", ["1.0.0", "1.9.9"], ["0.9.9", "2.0.0"]),
        (" >= 1.0.0 , < 2.0.0 ", ["1.5.0"], ["2.0.0"]),
        ("^1.2.3", ["1.2.3", "1.9.0"], ["1.2.2", "2.0.0"]),
        ("^0.2.3", ["0.2.3", "0.2.9"], ["0.3.0", "0.2.2"]),
        ("^0.0.3", ["0.0.3"], ["0.0.4"]),
        ("~1.2.3", ["1.2.3", "1.2.9"], ["1.3.0", "1.2.2"]),
        ("*", ["0.0.0", "9.9.9"], []),
        ("1", ["1.0.0", "1.9.9"], ["0.9.9", "2.0.0"]),
        ("=1.2", ["1.2.0", "1.2.9"], ["1.1.9", "1.3.0"]),
        (">=1.2,<2", ["1.2.0", "1.9.9"], ["1.1.9", "2.0.0"]),
        ("^1", ["1.0.0", "1.9.9"], ["0.9.9", "2.0.0"]),
        ("^0", ["0.0.0", "0.9.9"], ["1.0.0"]),
        ("^0.0", ["0.0.0", "0.0.9"], ["0.1.0"]),
        ("~1", ["1.0.0", "1.9.9"], ["2.0.0"]),
        ("~1.2", ["1.2.0", "1.2.9"], ["1.3.0"]),
    ],
)
def test_constraints(constraint, inside, outside):
    assert all(satisfies(version, constraint) for version in inside)
    assert not any(satisfies(version, constraint) for version in outside)


def test_a_short_version_is_completed():
    assert satisfies("1.2", "1.2.0")
    assert satisfies("2", ">=1.9.0")


@pytest.mark.parametrize("constraint", ["", "^", ">=x", "1.0.0,", "=>1.0.0", "^1.", "01", "1.2.3.4"])
def test_texts_that_are_no_constraints(constraint):
    with pytest.raises(VersionIncompatibleError):
        satisfies("1.0.0", constraint)


@given(versions, versions)
def test_comparisons_follow_the_order(one, other):
    assert satisfies(str(one), f">={other}") == (one >= other)
    assert satisfies(str(one), f"<{other}") == (one < other)
    assert satisfies(str(one), str(other)) == (one == other)


@given(versions, versions)
def test_a_caret_includes_its_tilde(one, other):
    if satisfies(str(one), f"~{other}") and other.major:
        assert satisfies(str(one), f"^{other}")


@pytest.mark.req("R-13.3-03", "R-13.3-04")
@pytest.mark.parametrize(("declared", "sdk"), [("2.0.0", "1.3.0"), ("1.0.0", "2.0.0"), ("1.4.0", "1.3.0")])
def test_versions_that_do_not_fit(declared, sdk):
    with pytest.raises(VersionIncompatibleError) as caught:
        negotiate_version(declared, sdk)
    assert caught.value.details == {"declared_version": declared, "sdk_version": sdk}


@pytest.mark.req("R-13.3-05", "R-13.3-06")
@pytest.mark.parametrize(
    ("declared", "sdk", "effective"),
    [
        ("1.1.0", "1.3.0", "1.1.0"),
        ("1.3.0", "1.3.5", "1.3.5"),
        ("1.3.10", "1.3.9", "1.3.10"),
        ("1.3.5", "1.3.0", "1.3.5"),
    ],
)
def test_versions_that_fit(declared, sdk, effective):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert negotiate_version(declared, sdk) == effective


@pytest.mark.req("R-13.3-05")
def test_old_versions_give_a_warning():
    with pytest.warns(DeprecationWarning, match=r"1\.0\.0 is old"):
        assert negotiate_version("1.0.0", "1.3.0") == "1.0.0"
