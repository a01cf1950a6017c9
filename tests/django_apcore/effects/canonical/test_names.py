"""Names of new rows depend on content and references, and on nothing else."""

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from django_apcore.effects.canonical.names import Node, name_rows

Graph = list[tuple[str, list[tuple[str, int]]]]
"""Rows by content, each with its references to others: a path and a number."""


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 9))
    reference = st.tuples(st.sampled_from("pq"), st.integers(0, size - 1))
    row = st.tuples(st.sampled_from("ab"), st.lists(reference, max_size=2, unique_by=lambda each: each[0]))
    return draw(st.lists(row, min_size=size, max_size=size))


def named(graph: Graph, order: list[int]) -> list[Any]:
    """The graph with names for numbers, made in the given order."""
    nodes = [Node("m", graph[number][0], number, graph[number][1]) for number in order]
    names = name_rows(nodes)
    return sorted(
        [names[number], content, sorted((path, names[other]) for path, other in references)]
        for number, (content, references) in enumerate(graph)
    )


@given(graphs(), st.randoms())
def test_the_order_of_making_does_not_matter(graph: Graph, rng: random.Random) -> None:
    order = list(range(len(graph)))
    first = named(graph, order)
    rng.shuffle(order)
    assert named(graph, order) == first


@given(graphs())
def test_every_row_has_a_name_of_its_own(graph: Graph) -> None:
    names = name_rows([Node("m", content, number, references) for number, (content, references) in enumerate(graph)])
    assert sorted(names.values()) == sorted(f"new:m#{number + 1}" for number in range(len(graph)))


def test_names_count_per_model_and_in_order_of_content() -> None:
    nodes = [Node("m", "b", 1), Node("n", "z", 2), Node("m", "a", 3)]
    assert name_rows(nodes) == {3: "new:m#1", 1: "new:m#2", 2: "new:n#1"}


def test_a_row_is_told_by_what_refers_to_it() -> None:
    """An existing row that points to one of two twins makes that twin another one."""
    for target in (1, 2):
        nodes = [Node("m", "same", 1), Node("m", "same", 2), Node("m", "old", None, [("p", target)])]
        names = name_rows(nodes)
        assert names[target] == "new:m#2"


def test_many_twins_with_many_twins_of_their_own() -> None:
    nodes = [Node("order", "same", ("o", number)) for number in range(50)]
    nodes += [
        Node("line", "same", ("l", number, line), [("order", ("o", number))])
        for number in range(50)
        for line in range(20)
    ]
    assert len(set(name_rows(nodes).values())) == 1050
