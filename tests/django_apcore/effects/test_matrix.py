"""Every kind of write against the whole database: during the run, after the rollback, and after the commit."""

from contextlib import suppress

import pytest
from django.db import connection

from apcore.effects import EffectRecord
from django_apcore.effects import UngovernedWriteError, governed
from tests.matrix.oracle import assert_shows, shape
from tests.matrix.snapshot import Snapshot, facts, snapshot, values
from tests.matrix.writes import EXACT, INCOMPLETE, ONLY, Write

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")

VOLATILE = [("auth.User", "password")]


@pytest.mark.req("DR-01", "DR-03", "DR-04", "DR-05")
@pytest.mark.parametrize("write", EXACT.values(), ids=EXACT)
def test_exact(write: Write) -> None:
    start, values_at_start = snapshot(), values()
    record, during, values_during = measure(write)
    assert snapshot() == start, "the preview left something behind"
    assert record.gaps == ()
    assert record.complete
    truth = facts(start, during)
    assert_shows(record, truth, values_at_start, values_during)

    with governed(commit=True, volatile=VOLATILE) as run:
        write()
    assert run.record.digest == record.digest, "executing does not have the effect that was previewed"
    committed = facts(start, snapshot())
    assert shape(committed) == shape(truth), "what was committed is not what was previewed"


def where(name: str) -> list[pytest.MarkDecorator]:
    """The database that alone has a kind of write, as a mark; none where both have it."""
    vendors = ONLY[name]
    return [getattr(pytest.mark, vendor) for vendor in vendors] if len(vendors) == 1 else []


@pytest.mark.usefixtures("triggers")
@pytest.mark.parametrize("write", [pytest.param(each, id=name, marks=where(name)) for name, each in INCOMPLETE.items()])
def test_incomplete_even_when_the_module_carries_on(write: Write) -> None:
    start = snapshot()

    def carry_on() -> None:
        with suppress(UngovernedWriteError, connection.Database.Error):
            write()

    record, *_ = measure(carry_on)
    assert not record.complete
    assert record.gaps
    assert snapshot() == start


def measure(write: Write) -> tuple[EffectRecord, Snapshot, Snapshot]:
    """The record, and what was in the databases at the end of the run: as it is stored, and as the ORM reads it."""
    with governed(commit=False, volatile=VOLATILE) as run:
        write()
        during, values_during = snapshot(), values()
    return run.record, during, values_during
