"""What tests do to the audit trail that nobody else can."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

TABLE = "django_apcore_auditentry"


@contextmanager
def unprotected() -> Iterator[None]:
    """What somebody with all rights on the database could do: switch the triggers off."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"ALTER TABLE {TABLE} DISABLE TRIGGER USER")
            yield
            cursor.execute(f"ALTER TABLE {TABLE} ENABLE TRIGGER USER")
            return
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", [TABLE])
        triggers = cursor.fetchall()
        for name, _sql in triggers:
            cursor.execute(f"DROP TRIGGER {name}")
        yield
        for _name, sql in triggers:
            cursor.execute(sql)
