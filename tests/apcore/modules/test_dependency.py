import pytest

from apcore.modules.dependency import Dependency, read_dependencies


@pytest.mark.req("R-5.3-03", "R-5.3-04")
@pytest.mark.parametrize(
    ("item", "read"),
    [
        ("a.b", Dependency("a.b", None, False)),
        ({"module_id": "a.b"}, Dependency("a.b", None, False)),
        ({"module_id": "a.b", "version": None}, Dependency("a.b", None, False)),
        ({"module_id": "a.b", "version": "^1.0.0", "optional": True}, Dependency("a.b", "^1.0.0", True)),
        (Dependency("a.b", "^1.0.0"), Dependency("a.b", "^1.0.0", False)),
    ],
)
def test_what_an_item_leaves_out_has_its_default(item, read):
    assert read_dependencies([item]) == (read,)


@pytest.mark.req("R-5.3-05")
def test_the_lists_of_a_mapping_say_what_is_optional():
    declared = {"requires": ["a.b"], "optional": [{"module_id": "c.d", "version": "~1.0.0"}]}
    assert read_dependencies(declared) == (Dependency("a.b"), Dependency("c.d", "~1.0.0", True))
    assert read_dependencies(None) == read_dependencies({}) == read_dependencies([]) == ()


@pytest.mark.parametrize(
    "declared",
    [
        "a.b",
        5,
        [5],
        [{"version": "1.0.0"}],
        [{"module_id": "a.b", "optional": "yes"}],
        [{"module_id": "a.b", "version": 1}],
        [{"module_id": "a.b", "needed": True}],
        {"required": ["a.b"]},
    ],
)
def test_everything_else_is_refused(declared):
    with pytest.raises(ValueError, match=r"depend|version"):
        read_dependencies(declared)
