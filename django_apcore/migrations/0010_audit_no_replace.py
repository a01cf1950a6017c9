"""On SQLite `INSERT OR REPLACE` deletes the row in its place without asking the triggers of DELETE: it is refused, too."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

TABLE = "django_apcore_auditentry"

TRIGGER = f"""
CREATE TRIGGER django_apcore_audit_no_replace BEFORE INSERT ON {TABLE}
WHEN EXISTS (SELECT 1 FROM {TABLE} WHERE id = NEW.id OR (partition = NEW.partition AND sequence = NEW.sequence))
BEGIN
    SELECT RAISE(ABORT, 'The audit trail is append-only: REPLACE is refused.');
END
"""  # noqa: S608 - the name is a constant


def guard(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _execute(schema_editor, TRIGGER)


def unguard(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _execute(schema_editor, "DROP TRIGGER django_apcore_audit_no_replace")


def _execute(schema_editor: BaseDatabaseSchemaEditor, statement: str) -> None:
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("django_apcore", "0009_audit_in_test_directories")]

    operations = [migrations.RunPython(guard, unguard)]
