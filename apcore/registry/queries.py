"""Questions about a set of modules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from apcore.modules import ModuleDefinition

Predicate = Callable[[ModuleDefinition], bool]


def select(
    definitions: Iterable[ModuleDefinition],
    *,
    prefix: str | None = None,
    tags: Collection[str] | None = None,
    include_hidden: bool = False,
) -> Iterator[ModuleDefinition]:
    """The modules whose ID starts with `prefix` and that have all `tags`; hidden ones only on request (§4.4)."""
    wanted_tags = frozenset(tags or ())
    for definition in definitions:
        visible = include_hidden or definition.annotations.discoverable
        if visible and definition.module_id.startswith(prefix or "") and wanted_tags.issubset(definition.tags):
            yield definition


def matches(definition: ModuleDefinition, query: str | Predicate) -> bool:
    """Whether the predicate says so, or every word of the text is in the ID, name, description or a tag."""
    if not isinstance(query, str):
        return query(definition)
    searched = " ".join((definition.module_id, definition.name, definition.description, *definition.tags)).lower()
    return all(word in searched for word in query.lower().split())
