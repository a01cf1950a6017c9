"""Names for new rows whose keys nobody knows yet: the same names for the same effect, whatever order it was made in.

A row is told from others by its content, and by what it refers to and is referred to by. Rows that are alike in all
of this are interchangeable, so any of them may get any of their names.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

RowId = Hashable
"""Whatever identifies a new row during one run."""

_ROUNDS = 64
"""How far differences travel along references. Beyond, rows that only differ further away are named in the order in
which they were made: the digest stays true, but depends on that order."""


@dataclass(eq=False, slots=True)
class Node:
    """A change that is a new row, or refers to new rows."""

    label: str
    content: str
    """Canonical text of the change with its references left blank."""
    row: RowId | None = None
    """The new row, if this change makes one whose key is not known."""
    references: list[tuple[str, RowId]] = field(default_factory=list)
    """Path of each reference, and the new row that it refers to."""
    colour: int = 0
    links: "list[tuple[str, Node]]" = field(default_factory=list)


def name_rows(nodes: Sequence[Node]) -> dict[RowId, str]:
    """Name every new row `new:<label>#<number>`, numbered by content."""
    makers = {node.row: node for node in nodes if node.row is not None}
    for node in nodes:
        for path, row in node.references:
            if maker := makers.get(row):
                node.links.append((f">{path}", maker))
                maker.links.append((f"<{path}", node))
    _recolour({node: (node.label, node.content) for node in nodes})
    linked = [node for node in nodes if node.links]
    position = {node: place for place, node in enumerate(_ordered(linked))}
    numbers: defaultdict[str, int] = defaultdict(int)
    names = {}
    for node in sorted(makers.values(), key=lambda node: (node.label, node.content, position.get(node, -1))):
        numbers[node.label] += 1
        names[node.row] = f"new:{node.label}#{numbers[node.label]}"
    return names


def _ordered(nodes: Sequence[Node]) -> list[Node]:
    """The nodes in an order that depends on content and references only, up to interchangeable nodes."""
    _refine(nodes)
    classes: defaultdict[int, list[Node]] = defaultdict(list)
    for node in nodes:
        classes[node.colour].append(node)
    alike = [members for members in classes.values() if len(members) > 1]
    if not alike:
        return sorted(nodes, key=lambda node: node.colour)
    parts = _connected([node for members in alike for node in members])
    if len(parts) == 1 and len(parts[0]) == len(nodes):
        # All hang together and each has a double: choosing one of the doubles tells the others apart.
        min(alike, key=lambda members: members[0].colour)[0].colour = -1
        return _ordered(nodes)
    # Seen from the rest, which is told apart already, the parts do not depend on each other.
    single = sorted((members[0] for members in classes.values() if len(members) == 1), key=lambda node: node.colour)
    ordered = [(_certificate(part), part) for part in map(_ordered_apart, parts)]
    return single + [node for _, part in sorted(ordered, key=lambda pair: pair[0]) for node in part]


def _ordered_apart(part: list[Node]) -> list[Node]:
    """Order a part by itself, and leave its nodes with the colours that they came with."""
    colours = [node.colour for node in part]
    ordered = _ordered(part)
    for node, colour in zip(part, colours, strict=True):
        node.colour = colour
    return ordered


def _certificate(part: Sequence[Node]) -> list[tuple[int, list[tuple[str, int]]]]:
    """Equal for parts that are alike, and only for them."""
    place = {node: number for number, node in enumerate(part)}
    return [
        (node.colour, sorted((path, place[other]) for path, other in node.links if other in place)) for node in part
    ]


def _refine(nodes: Sequence[Node]) -> None:
    """Tell nodes apart by the colours of their neighbours, until nothing new comes to light."""
    inside = set(nodes)
    known = len({node.colour for node in nodes})
    for _ in range(_ROUNDS):
        signatures = {
            node: (node.colour, tuple(sorted((path, other.colour) for path, other in node.links if other in inside)))
            for node in nodes
        }
        found = _recolour(signatures)
        if found == known:
            return
        known = found


def _recolour(signatures: Mapping[Node, tuple[Any, ...]]) -> int:
    """Number the different signatures in their own order; returns how many there are."""
    ranks = {signature: rank for rank, signature in enumerate(sorted(set(signatures.values())))}
    for node, signature in signatures.items():
        node.colour = ranks[signature]
    return len(ranks)


def _connected(nodes: Sequence[Node]) -> list[list[Node]]:
    """The groups of nodes that hang together through each other."""
    left = dict.fromkeys(nodes)
    parts = []
    while left:
        node, _ = left.popitem()
        part, edge = [node], [node]
        while edge:
            for _, other in edge.pop().links:
                if other in left:
                    del left[other]
                    part.append(other)
                    edge.append(other)
        parts.append(part)
    return parts
