from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore import resolve_dependencies
from apcore.errors import (
    CircularDependencyError,
    ConfigError,
    DependencyNotFoundError,
    DependencyVersionMismatchError,
    InvalidInputError,
)


def node(module_id, *dependencies, version="1.0.0"):
    return {"id": module_id, "dependencies": list(dependencies), "version": version}


@dataclass
class Described:
    module_id: str
    dependencies: object


@pytest.mark.req("R-5.3-01", "R-5.3-03")
def test_a_diamond_is_ordered():
    order = resolve_dependencies(
        [node("top", "left", "right"), node("left", "base"), node("right", "base"), node("base")]
    )

    assert order == ["base", "left", "right", "top"] or order == ["base", "right", "left", "top"]


def test_the_order_of_the_input_is_kept_where_it_is_free():
    assert resolve_dependencies([node("c"), node("a"), node("b")]) == ["c", "a", "b"]
    assert resolve_dependencies([]) == []


@pytest.mark.req("R-5.3-01")
@given(st.data())
def test_every_dependency_precedes_its_dependents(data):
    names = [f"m{number}" for number in range(data.draw(st.integers(1, 12)))]
    edges = {
        name: data.draw(st.sets(st.sampled_from(names[:index]))) if index else set() for index, name in enumerate(names)
    }
    shuffled = data.draw(st.permutations(names))

    order = resolve_dependencies([node(name, *sorted(edges[name])) for name in shuffled])

    assert sorted(order) == sorted(names)
    assert all(order.index(target) < order.index(name) for name in names for target in edges[name])


@pytest.mark.req("R-5.3-02", "R-5.15.2-07", "R-5.15.2-08")
@pytest.mark.parametrize(
    ("nodes", "cycle"),
    [
        ([node("a", "b"), node("b", "a")], ["a", "b", "a"]),
        ([node("a", "b"), node("b", "c"), node("c", "a")], ["a", "b", "c", "a"]),
        ([node("a", "a")], ["a", "a"]),
        ([node("a", "b"), node("b", "c"), node("c", "b"), node("d")], ["b", "c", "b"]),
    ],
)
def test_a_circle_is_named_with_its_path(nodes, cycle):
    with pytest.raises(CircularDependencyError, match=" -> ".join(cycle)) as caught:
        resolve_dependencies(nodes)
    assert caught.value.details == {"cycle": cycle}


@pytest.mark.req("R-5.15.2-01")
def test_a_missing_dependency_is_an_error():
    with pytest.raises(DependencyNotFoundError) as caught:
        resolve_dependencies([node("a", "no.such")])
    assert caught.value.details == {"module_id": "a", "dependency_id": "no.such"}


@pytest.mark.req("R-5.15.2-02", "R-5.3-08")
def test_a_missing_optional_dependency_is_told(caplog):
    caplog.set_level("INFO", "apcore.registry")

    assert resolve_dependencies([node("a", {"module_id": "no.such", "optional": True})]) == ["a"]
    assert [(each.levelname, "no.such" in each.message) for each in caplog.records] == [("INFO", True)]


@pytest.mark.req("R-5.15.2-05")
def test_a_version_that_does_not_fit_is_an_error():
    with pytest.raises(DependencyVersionMismatchError) as caught:
        resolve_dependencies([node("a", {"module_id": "b", "version": "^2.0.0"}), node("b")])
    assert caught.value.details == {"module_id": "a", "dependency_id": "b", "required": "^2.0.0", "actual": "1.0.0"}


@pytest.mark.req("R-5.15.2-06")
def test_an_optional_version_that_does_not_fit_drops_the_edge(caplog):
    order = resolve_dependencies([node("a", {"module_id": "b", "version": "^2.0.0", "optional": True}), node("b", "a")])

    assert order == ["a", "b"]
    assert [each.levelname for each in caplog.records] == ["WARNING"]


@pytest.mark.req("R-5.3-06")
@pytest.mark.parametrize(
    ("constraint", "fitting", "unfit"),
    [
        ("1.0.0", "1.0.0", "1.0.1"),
        (">=1.0.0", "3.0.0", "0.9.0"),
        ("<2.0.0", "1.9.9", "2.0.0"),
        (">=1.0.0,<2.0.0", "1.5.0", "2.0.0"),
        ("^1.0.0", "1.9.0", "2.0.0"),
        ("~1.0.0", "1.0.9", "1.1.0"),
    ],
)
def test_the_six_constraints(constraint, fitting, unfit):
    needs = node("a", {"module_id": "b", "version": constraint})

    assert resolve_dependencies([needs, node("b", version=fitting)]) == ["b", "a"]
    with pytest.raises(DependencyVersionMismatchError):
        resolve_dependencies([needs, node("b", version=unfit)])


@pytest.mark.req("R-5.3-05", "R-5.3-04")
@pytest.mark.parametrize(
    "dependencies",
    [
        ["b", {"module_id": "c", "version": ">=1.0.0", "optional": True}],
        {"requires": ["b"], "optional": [{"module_id": "c", "version": ">=1.0.0"}]},
    ],
)
def test_both_shapes_give_the_same_graph(dependencies):
    assert resolve_dependencies([Described("a", dependencies), node("c"), node("b")]) == ["c", "b", "a"]


@pytest.mark.req("R-5.3-07")
@pytest.mark.parametrize(("strategy", "first"), [("highest", "b_v2"), ("lowest", "b"), ("locked", "b")])
def test_the_strategy_picks_one_of_several_versions(strategy, first):
    needs = node("a", {"module_id": "b", "version": ">=1.0.0"})
    others = {"b": node("b", version="1.0.0"), "b_v2": node("b_v2", version="2.0.0")}
    # the version that is picked must come before "a"; the other one may depend on "a", which proves that it is not
    other = "b" if first == "b_v2" else "b_v2"
    others[other] = {**others[other], "dependencies": ["a"]}

    assert resolve_dependencies([needs, *others.values()], strategy=strategy) == [first, "a", other]


@pytest.mark.req("R-5.3-07")
def test_a_conflict_is_an_error_unless_a_substitute_is_allowed(caplog):
    nodes = [node("a", {"module_id": "b", "version": "^3.0.0"}), node("b"), node("b_v2", version="2.0.0")]

    with pytest.raises(DependencyVersionMismatchError):
        resolve_dependencies(nodes)
    assert resolve_dependencies(nodes, conflict_resolution="use_highest") == ["b", "b_v2", "a"]
    assert "gets 'b_v2'" in caplog.text
    assert resolve_dependencies(nodes, conflict_resolution="use_lowest") == ["b", "b_v2", "a"]
    assert "gets 'b'" in caplog.text
    with pytest.raises(ConfigError):
        resolve_dependencies(nodes, conflict_resolution="guess")


def test_what_is_loaded_already_counts():
    needs = node("a", {"module_id": "b", "version": "^2.0.0"})

    assert resolve_dependencies([needs], available={"b": "2.3.0"}) == ["a"]
    with pytest.raises(DependencyVersionMismatchError):
        resolve_dependencies([needs], available={"b": "1.0.0"})


def test_two_modules_of_one_id_are_refused():
    with pytest.raises(InvalidInputError) as caught:
        resolve_dependencies([node("a"), node("a")])
    assert caught.value.details["type"] == "duplicate_id"


@pytest.mark.parametrize(
    "dependencies",
    [
        "b",
        [1],
        [{"version": "1.0.0"}],
        {"needs": []},
        [{"module_id": "b", "v": 1}],
        ["no id"],
        [{"module_id": "b", "version": "newest"}],
    ],
)
def test_what_is_no_dependency_is_refused(dependencies):
    with pytest.raises(InvalidInputError, match="'a'"):
        resolve_dependencies([{"module_id": "a", "dependencies": dependencies}])
