"""With any part of capture broken, a record may be refused or incomplete, but never complete and wrong."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, connection

from apcore.errors import ModuleError
from django_apcore.effects import governed
from django_apcore.effects.database import compilers, inserts
from django_apcore.effects.database.capture import Capture
from django_apcore.effects.database.counters import PostgresCounters
from django_apcore.effects.database.ledger import Ledger, Mode, Touched
from tests.matrix import writes
from tests.matrix.oracle import assert_shows
from tests.matrix.snapshot import facts, snapshot, values
from tests.matrix.writes import Write

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")

WRITES = [
    writes.save_inserts,
    writes.save_updates_all_fields,
    writes.delete_cascade_and_set_null,
    writes.update_join_filter,
    writes.delete_fast,
    writes.bulk_create,
    writes.bulk_create_ignore_conflicts,
    writes.bulk_create_update_conflicts,
    writes.bulk_create_update_conflicts_on_key,
    writes.m2m_set,
    writes.inherited_save,
    writes.composite_key,
    writes.inner_rollback,
    writes.integrity_error_of_many_rows_handled,
    writes.second_database,
]

Patch = pytest.MonkeyPatch


def nothing_compiled_is_followed(patch: Patch) -> None:
    patch.setattr(compilers, "_EXTENSIONS", {})


def updates_are_compiled_plainly(patch: Patch) -> None:
    patch.delitem(compilers._EXTENSIONS, "SQLUpdateCompiler")


def deletes_are_compiled_plainly(patch: Patch) -> None:
    patch.delitem(compilers._EXTENSIONS, "SQLDeleteCompiler")


def inserts_are_compiled_plainly(patch: Patch) -> None:
    patch.delitem(compilers._EXTENSIONS, "SQLInsertCompiler")


def rows_are_not_noted(patch: Patch) -> None:
    patch.setattr(Touched, "note", lambda self, rows: set())


def new_rows_are_not_noted(patch: Patch) -> None:
    patch.setattr(inserts, "_note_new", lambda ledger, query, touched, keys, existing: 0)


def upserts_find_nothing(patch: Patch) -> None:
    patch.setattr(inserts, "_note_conflicting", lambda ledger, query, touched: set())


def statements_are_only_admitted(patch: Patch) -> None:
    patch.setattr(Capture, "_on_statement", lambda self, execute, *statement: self._admit(execute, *statement))


def written_rows_are_not_counted(patch: Patch) -> None:
    patch.setattr(Capture, "_note_written", lambda self, sql, expected, written: None)


def rows_before_are_read_too_narrowly(patch: Patch) -> None:
    original = Ledger.fetch

    def fetch(self: Ledger, sql: str, params: Any = ()) -> list[Any]:
        rows = original(self, sql, params)
        return rows[:-1] if self.gate.mode is Mode.MODULE else rows

    patch.setattr(Ledger, "fetch", fetch)


def savepoints_are_not_forgiven(patch: Patch) -> None:
    patch.setattr(PostgresCounters, "rolled_back_to", lambda self, name, written: None)


BROKEN: list[Callable[[Patch], None]] = [
    nothing_compiled_is_followed,
    updates_are_compiled_plainly,
    deletes_are_compiled_plainly,
    inserts_are_compiled_plainly,
    rows_are_not_noted,
    new_rows_are_not_noted,
    upserts_find_nothing,
    statements_are_only_admitted,
    written_rows_are_not_counted,
    rows_before_are_read_too_narrowly,
    # only PostgreSQL counts what was rolled back
    pytest.param(savepoints_are_not_forgiven, marks=pytest.mark.postgresql),
]


@pytest.mark.parametrize("break_it", BROKEN, ids=lambda each: each.__name__)
def test_never_complete_and_wrong(break_it: Callable[[Patch], None]) -> None:
    harmless = 0
    for write in WRITES:
        harmless += outcome_is_right(break_it, write)
    assert harmless < len(WRITES), "this breaks nothing, so it proves nothing"


def outcome_is_right(break_it: Callable[[Patch], None], write: Write) -> bool:
    """Whether the record is complete and right. Fails the test when it is complete and wrong."""
    start, values_at_start = snapshot(), values()
    during: dict[str, Any] = {}
    try:
        with pytest.MonkeyPatch.context() as patch:
            break_it(patch)
            with governed(commit=False) as run:
                write()
                during["rows"], during["values"] = snapshot(), values()
        record = run.record
    except (ModuleError, DatabaseError, connection.Database.Error, ValueError):
        record = None
    assert snapshot() == start
    if record is None or not record.complete:
        return False
    assert_shows(record, facts(start, during["rows"]), values_at_start, during["values"])
    return True
