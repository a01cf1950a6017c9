"""Changes before the new rows have names: what was, what is, and which values only stand for something."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Model

from apcore.modules import UNSET
from apcore.schema import canonical_json
from django_apcore.effects.active import HeldMessage, Run
from django_apcore.effects.canonical.columns import Column, Window
from django_apcore.effects.canonical.references import NewRows, Reference
from django_apcore.effects.canonical.values import UncanonicalError, canonical_value, redacted
from django_apcore.effects.database.tables import Key, Row, Table

FieldName = tuple[str, str]
"""A model field as `("app.Model", "field")`."""


@dataclass(eq=False, slots=True)
class TouchedRow:
    """One row, at the beginning of the run and at its end. It stands for itself where a new row needs an identity."""

    alias: str
    table: Table
    key: Key
    before: Row | None
    after: Row | None
    filled: frozenset[str]


@dataclass(eq=False, slots=True)
class Draft:
    """One change, of a row or of what is sent. `is_new` says that it makes a row whose key is not known yet."""

    action: str
    row: TouchedRow | None = None
    message: HeldMessage | None = None
    before: Any = UNSET
    after: Any = UNSET
    is_new: bool = False
    references: list[tuple[str, Reference]] = field(default_factory=list)


class Drafter:
    """Drafts the changes of one run, and adds to `gaps` what it cannot express."""

    def __init__(
        self,
        run: Run,
        window: Window,
        volatile: frozenset[FieldName],
        sensitive: frozenset[FieldName],
        *,
        gaps: list[str],
    ) -> None:
        self.gaps = gaps
        self.new_rows = NewRows()
        self._run, self._window = run, window
        self._volatile, self._sensitive = volatile, sensitive
        self._columns: dict[Table, list[Column]] = {}

    def columns(self, table: Table) -> list[Column]:
        """The columns of a table, in its order."""
        if table not in self._columns:
            self._columns[table] = [self._column(table, index) for index in range(len(table.fields))]
        return self._columns[table]

    def identify(self, rows: Iterable[TouchedRow]) -> None:
        """Learn which values mean a new row. Call it with all rows before drafting any."""
        for row in rows:
            if row.before is None and row.after is not None:
                self._identify(row, row.after)

    def key(self, row: TouchedRow) -> list[Any]:
        """The parts of the primary key as canonical values."""
        columns = [column for column in self.columns(row.table) if column.is_key]
        by_field = {column.field: column for column in columns}
        parts = [canonical_value(value) for value in row.key]
        return [
            redacted(part) if by_field[one].sensitive else part
            for one, part in zip(row.table.key_fields, parts, strict=True)
        ]

    def draft(self, row: TouchedRow) -> Draft | None:
        """What happened to a row; None if nothing that means anything did."""
        columns = self.columns(row.table)
        if row.before is not None and row.after is not None:
            return self._update(columns, row, row.before, row.after)
        if row.after is not None:
            return self._insert(columns, row, row.after)
        if row.before is not None:
            old = row.before
            return Draft("delete", row, before={each.name: self._shown(each, old[each.index]) for each in columns})
        return None

    def draft_message(self, message: HeldMessage) -> Draft:
        """What is sent. Tasks are given keys of new rows as plain numbers."""
        draft = Draft("send" if message.kind == "mail" else "enqueue", message=message)
        is_task = message.kind == "task"
        draft.after = self.new_rows.replace(message.content, "", draft.references, numbers=is_task)
        return draft

    def _column(self, table: Table, index: int) -> Column:
        name = (table.label, table.fields[index].name)
        generated = self._run.generated.get((table.model, table.fields[index].attname), ())
        return Column(
            table,
            index,
            self._window,
            volatile=name in self._volatile,
            sensitive=name in self._sensitive,
            generated=generated,
        )

    def _identify(self, row: TouchedRow, new: Row) -> None:
        for column in self.columns(row.table):
            value = column.value(new[column.index])
            if column.identifies(value, row.filled):
                self.new_rows.add(row, row.alias, row.table.model, column.field, value)

    def _insert(self, columns: list[Column], row: TouchedRow, new: Row) -> Draft:
        draft = Draft("insert", row)
        draft.after = {each.name: self._new_value(each, row, new, draft) for each in columns}
        draft.is_new = any(is_open(draft.after[each.name]) for each in columns if each.is_key)
        return draft

    def _update(self, columns: list[Column], row: TouchedRow, old: Row, new: Row) -> Draft | None:
        draft = Draft("update", row, before={}, after={})
        for column in columns:
            was, now = old[column.index], new[column.index]
            if was == now and type(was) is type(now):
                continue
            before, after = self._shown(column, was), self._new_value(column, row, new, draft)
            if column.volatile or not _same(before, after):
                draft.before[column.name], draft.after[column.name] = before, after
        return draft if draft.after else None

    def _shown(self, column: Column, raw: Any) -> Any:
        try:
            return column.shown(raw)
        except UncanonicalError as error:
            self.gaps.append(f"{column.field}: {error}")
            return {"$unknown": type(raw).__qualname__}

    def _new_value(self, column: Column, row: TouchedRow, new: Row, draft: Draft) -> Any:
        raw = new[column.index]
        if raw is None or column.volatile:
            return self._shown(column, raw)
        value = column.value(raw)
        if self.new_rows and (reference := self._reference(column, row, new, value)):
            draft.references.append((column.name, reference))
            return reference
        if marker := column.chosen(value, row.filled if row.before is None else None):
            return marker
        return self.new_rows.replace(self._shown(column, raw), column.name, draft.references)

    def _reference(self, column: Column, row: TouchedRow, new: Row, value: Any) -> Reference | None:
        if column.field.remote_field:
            return self.new_rows.referred(row.alias, column.field, value)
        if column.generic:
            return self.new_rows.meant(row.alias, _generic_model(column.generic, row, new), value)
        return None


def _generic_model(generic: Any, row: TouchedRow, new: Row) -> type[Model] | None:
    """The model that a generic foreign key of this row points to."""
    index = [one.name for one in row.table.fields].index(generic.ct_field)
    content_type = new[index]
    if content_type is None:
        return None
    model: type[Model] | None = generic.get_content_type(id=content_type, using=row.alias).model_class()
    return model


def is_open(canonical: Any) -> bool:
    """Whether a value of a new row will be known only when it is made."""
    return isinstance(canonical, Reference) or (isinstance(canonical, dict) and "$known_after_apply" in canonical)


def _same(before: Any, after: Any) -> bool:
    """Whether two canonical values are the same JSON: to Python, 1 and true are equal."""
    return before == after and canonical_json(before) == canonical_json(after)
