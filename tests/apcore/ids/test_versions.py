import pytest

from apcore.ids import ModuleReference, VersionedName, parse_reference, parse_versioned_name


@pytest.mark.req("R-2.4-01")
@pytest.mark.parametrize(
    ("module_id", "base", "major"),
    [
        ("executor.validator.db_params", "executor.validator.db_params", None),
        ("executor.validator.db_params_v2", "executor.validator.db_params", 2),
        ("a.b_v12", "a.b", 12),
        ("a.b_v0", "a.b_v0", None),
        ("a.b_v", "a.b_v", None),
        ("a.v2", "a.v2", None),
        ("v2", "v2", None),
        ("a_v2.b", "a_v2.b", None),
    ],
)
def test_the_suffix_of_an_id_names_its_major_version(module_id, base, major):
    assert parse_versioned_name(module_id) == VersionedName(base, major)


@pytest.mark.req("R-5.4-02")
@pytest.mark.parametrize(
    ("reference", "version", "major"),
    [("a.b", None, None), ("a.b@2", "2", 2), ("a.b@v2", "v2", 2), ("a.b@2.0.0", "2.0.0", None), ("a.b@", "", None)],
)
def test_a_reference_is_an_id_and_a_version(reference, version, major):
    parsed = parse_reference(reference)

    assert parsed == ModuleReference("a.b", version)
    assert parsed.major == major
