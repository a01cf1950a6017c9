"""The net effect of a run: what each touched row was before, what it is now, and what else left the database."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from django.db import DEFAULT_DB_ALIAS

from apcore.modules import Change
from apcore.schema import canonical_json
from django_apcore.effects.active import HeldMessage
from django_apcore.effects.canonical.drafts import Draft, Drafter, TouchedRow, is_open
from django_apcore.effects.canonical.labels import Labels
from django_apcore.effects.canonical.names import Node, RowId, name_rows
from django_apcore.effects.canonical.references import flattened
from django_apcore.effects.canonical.values import describe
from django_apcore.effects.database.ledger import Ledger, Touched
from django_apcore.effects.database.tables import Key

_SPELLED_OUT = 3
"""How many fields the summary of an update names."""
_NOT_KNOWN = "(new)"
"""Stands for keys that are not known yet, wherever a text for people needs them."""


def changes_of(
    ledgers: Sequence[Ledger], held: Sequence[HeldMessage], drafter: Drafter, labels: Labels
) -> Iterator[Change]:
    """Every change of a run once, in canonical order: by database, model and key, then what is sent.

    Rows are compared as they stand when this is called. Changes are made one by one, as they are asked for.
    """
    rows = [row for ledger in sorted(ledgers, key=lambda each: each.connection.alias) for row in _touched_rows(ledger)]
    drafter.identify(rows)
    found = chain(map(drafter.draft, rows), map(drafter.draft_message, held))
    drafts: Iterable[Draft] = (draft for draft in found if draft is not None)
    names: dict[RowId, str] = {}
    if drafter.new_rows:
        drafts = list(drafts)
        names = _name(drafts)
        drafts = _in_order(drafts, names)
    return (_change(draft, names, drafter, labels) for draft in drafts)


def _touched_rows(ledger: Ledger) -> Iterator[TouchedRow]:
    for touched in ledger.all_touched():
        current = ledger.current(touched)
        for key in _sorted_keys(touched):
            before, after = touched.before[key], current.get(key)
            if before != after:
                filled = touched.filled.get(key, frozenset())
                yield TouchedRow(ledger.connection.alias, touched.table, key, before, after, filled)


def _sorted_keys(touched: Touched) -> list[Key]:
    try:
        return sorted(touched.before)
    except TypeError:
        return sorted(touched.before, key=repr)


# -- names of new rows ------------------------------------------------------------------------------------------------


def _name(drafts: Sequence[Draft]) -> dict[RowId, str]:
    names = name_rows([_node(draft) for draft in drafts if draft.is_new or draft.references])
    for draft in drafts:
        for _path, reference in draft.references:
            reference.resolve(names)
    return names


def _node(draft: Draft) -> Node:
    if draft.row is None:
        assert draft.message is not None
        content = canonical_json([draft.message.target, draft.after])
        return Node(draft.message.kind, content, references=list(flattened(draft.references)))
    row = draft.row
    # what was there before is told apart by its key, so its old values need not be part of the content
    identity = None if draft.is_new else canonical_json([str(part) for part in row.key])
    content = canonical_json([row.alias, draft.action, identity, draft.after])
    return Node(row.table.label, content, row if draft.is_new else None, list(flattened(draft.references)))


def _in_order(drafts: Sequence[Draft], names: dict[RowId, str]) -> list[Draft]:
    """Rows of one table stay together, those with known keys first; new ones follow by number."""
    tables: dict[Any, int] = {}

    def place(draft: Draft) -> tuple[int, int]:
        table = draft.row.table if draft.row else None
        number = int(names[draft.row].rpartition("#")[2]) if draft.is_new else 0
        return tables.setdefault(table, len(tables)), number

    return sorted(drafts, key=place)


# -- changes ----------------------------------------------------------------------------------------------------------


def _change(draft: Draft, names: dict[RowId, str], drafter: Drafter, labels: Labels) -> Change:
    if draft.row is None:
        assert draft.message is not None
        kind = {"x-kind": draft.message.kind}
        return Change(draft.action, draft.message.target, draft.message.summary, after=draft.after, **kind)
    row = draft.row
    key = drafter.key(row)
    extras: dict[str, Any] = {"x-kind": row.table.label}
    if draft.is_new:
        target, key_text = names[row], _NOT_KNOWN
    else:
        key_text = _key_text(key)
        target = f"{row.table.label}:{key_text}"
        extras["x-pk"] = key[0] if len(key) == 1 else key
    label = labels.label(row.table, row.alias, lambda: _values(draft, row, drafter), key_text)
    extras["x-label"] = label
    if row.alias != DEFAULT_DB_ALIAS:
        extras["x-alias"] = row.alias
    return Change(draft.action, target, _summary(draft, label), before=draft.before, after=draft.after, **extras)


def _key_text(key: Sequence[Any]) -> str:
    [first, *others] = key
    return canonical_json(list(key)) if others or not isinstance(first, str | int) else str(first)


def _values(draft: Draft, row: TouchedRow, drafter: Drafter) -> list[Any]:
    """The row's values for `__str__`, without keys that are another number the next time."""
    columns = drafter.columns(row.table)
    raw = row.before if row.after is None else row.after
    assert raw is not None
    values = [column.value(raw[column.index]) for column in columns]
    if draft.is_new or draft.references:
        for column in columns:
            if is_open(draft.after.get(column.name)) and (column.is_key or column.field.remote_field):
                values[column.index] = _NOT_KNOWN
    return values


def _summary(draft: Draft, label: str) -> str:
    if draft.action != "update":
        return f"{draft.action.capitalize()} {label}"
    names = list(draft.after)
    pairs = ((name, draft.before[name], draft.after[name]) for name in names[:_SPELLED_OUT])
    spelled = [f"{name} {describe(before)} → {describe(after)}" for name, before, after in pairs]
    more = f" and {len(names) - _SPELLED_OUT} more" if len(names) > _SPELLED_OUT else ""
    return f"Update {label}: {', '.join(spelled)}{more}"
