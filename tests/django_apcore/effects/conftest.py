"""The matrix world for each test, in real databases and without a transaction around it."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, connections

from tests.matrix import data

_SETTING_FROM_NODE = "INSERT INTO matrix_setting(key, value) VALUES ('trg' || NEW.id, NEW.name)"
_TRIGGER_ON = {
    "sqlite": [f"CREATE TRIGGER matrix_trigger AFTER UPDATE ON matrix_node BEGIN {_SETTING_FROM_NODE}; END"],
    "postgresql": [
        f"""CREATE OR REPLACE FUNCTION matrix_write() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN {_SETTING_FROM_NODE}; RETURN NULL; END $$""",
        "CREATE TRIGGER matrix_trigger AFTER UPDATE ON matrix_node FOR EACH ROW EXECUTE FUNCTION matrix_write()",
        """CREATE OR REPLACE FUNCTION matrix_sneaky() RETURNS int LANGUAGE plpgsql AS
            $$ BEGIN UPDATE matrix_setting SET value = 'sneaky'; RETURN 1; END $$""",
    ],
}
_TRIGGER_OFF = {
    "sqlite": ["DROP TRIGGER matrix_trigger"],
    "postgresql": [
        "DROP TRIGGER matrix_trigger ON matrix_node",
        "DROP FUNCTION matrix_write()",
        "DROP FUNCTION matrix_sneaky()",
    ],
}


@pytest.fixture
def _django_db_helper(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Real transactions, as with `transaction=True`, but only the tables of the matrix are emptied, which is quick.

    Takes the place of pytest-django's fixture for all tests of this folder that are marked `django_db`.
    """
    with django_db_blocker.unblock():
        data.reset()
        try:
            yield
        finally:
            assert not any(each.in_atomic_block for each in connections.all())
            data.clear()


@pytest.fixture
def triggers(_django_db_helper: None) -> Iterator[None]:
    """A trigger that writes another table and, on PostgreSQL, a function that writes."""
    _run(_TRIGGER_ON)
    yield
    _run(_TRIGGER_OFF)


def _run(statements: dict[str, list[str]]) -> None:
    with connection.cursor() as cursor:
        for statement in statements[connection.vendor]:
            cursor.execute(statement)
