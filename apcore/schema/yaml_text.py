"""YAML as all files of a project are read: the values of JSON, nothing twice, and errors that show nothing."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

import yaml

# The parser in C is about seven times as fast; where it is missing, the one in Python reads the same.
_SafeLoader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(text: str) -> Any:
    """The one document of the text, None for an empty one.

    Raises YAMLError, whose message may show lines of the text (see ``yaml_fault()``), and RecursionError for what is
    nested too deeply.
    """
    loader = _Loader(text)
    loader.most_nodes = max(_MOST_NODES, len(text))  # without aliases a text holds no more values than characters
    try:
        return loader.get_single_data()
    except ValueError:  # it shows the value
        fault = "a value looks like a number and is none; put it in quotes"
        raise yaml.constructor.ConstructorError(None, None, fault, None) from None
    finally:
        loader.dispose()


def yaml_fault(error: yaml.YAMLError) -> str:
    """What is wrong with a YAML text, and where, without anything that stands there."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return str(error).partition("\n")[0]
    reason = error.problem or error.context or "it is no YAML"
    for beginning, advice in _UNQUOTED.items():
        if reason.startswith(beginning):
            reason = advice
    mark = error.problem_mark or error.context_mark
    return reason if mark is None else f"{reason} (line {mark.line + 1}, column {mark.column + 1})"


_UNQUOTED: Final = {
    "found undefined alias": "found an alias of nothing; put a text that begins with * into quotes",
    "found duplicate anchor": "an anchor stands twice; put a text that begins with & into quotes",
    "could not determine a constructor": "found an unknown tag; put a text that begins with ! into quotes",
    "found undefined tag handle": "found an unknown tag; put a text that begins with ! into quotes",
}
"""What a password without quotes may look like to YAML: the message would repeat it."""


class _Loader(_SafeLoader):  # type: ignore[misc]  # which of the two it is, is known at run time
    """YAML with the values of JSON: dates stay texts, keys are texts, no key stands twice, and nothing contains itself.

    All that its aliases stand for is at most `most_nodes` values: a few lines can otherwise stand for billions.
    """

    most_nodes = 0

    def get_single_data(self) -> Any:
        node = self.get_single_node()
        if node is None:
            return None
        _count(node, {}, set(), self.most_nodes)
        return self.construct_document(node)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        given = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        repeated = _repeated(given)
        if repeated is not None:
            raise yaml.constructor.ConstructorError(None, None, f"the key '{repeated}' stands twice", node.start_mark)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
        for key in mapping:
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is no text; put it in quotes", node.start_mark
                )
        return mapping


def _repeated(keys: list[Any]) -> str | None:
    seen: set[str] = set()
    for key in keys:
        if isinstance(key, str):  # a key that is no scalar is refused when it is made
            if key in seen:
                return key
            seen.add(key)
    return None


_MOST_NODES: Final = 1_000_000


def _count(node: yaml.Node, known: dict[int, int], inside: set[int], most: int) -> int:
    """How many values a node stands for. Raises ConstructorError if it contains itself, or for too many."""
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) in inside:
        raise yaml.constructor.ConstructorError(None, None, "an alias stands for what contains it", node.start_mark)
    if id(node) not in known:
        inside.add(id(node))
        below = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
        known[id(node)] = 1 + sum(_count(each, known, inside, most) for each in below)
        inside.remove(id(node))
    if known[id(node)] > most:
        raise yaml.constructor.ConstructorError(None, None, "the aliases stand for too many values", node.start_mark)
    return known[id(node)]


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
