"""`INSERT OR REPLACE` on SQLite."""

import pytest
from django.db import IntegrityError, connection, transaction

from django_apcore.models import AuditEntry
from django_apcore.services.audit import append

TABLE = "django_apcore_auditentry"

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]


@pytest.mark.parametrize("other", ["id", "sequence"])
@pytest.mark.parametrize("verb", ["INSERT OR REPLACE", "REPLACE"])
def test_no_entry_is_replaced(verb: str, other: str) -> None:
    append("test.happened", subject="test:1", data={"a": 1})
    before = list(AuditEntry.objects.values())
    columns = [field.column for field in AuditEntry._meta.fields]
    values = [f"{column} + 1" if column == other else column for column in columns]
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"{verb} INTO {TABLE} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {TABLE}")
    assert list(AuditEntry.objects.values()) == before
