"""On SQLite only the name of the file itself says that a database is for tests, and not that of a directory above it.

A database in `/srv/test_site/` could be emptied of its audit trail.
"""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

TABLE = "django_apcore_auditentry"

_DIRECTORY = "rtrim(file, replace(file, '/', ''))"
_IN_A_DIRECTORY = "file LIKE '%/test\\_%' ESCAPE '\\'"
_BY_ITSELF = f"substr(file, length({_DIRECTORY}) + 1) LIKE 'test\\_%' ESCAPE '\\'"


def statements(is_test_file: str) -> list[str]:
    """The trigger anew, for a condition on `file`, the path of the database."""
    return [
        "DROP TRIGGER django_apcore_audit_no_delete",
        f"""
CREATE TRIGGER django_apcore_audit_no_delete BEFORE DELETE ON {TABLE}
WHEN NOT EXISTS (
    SELECT 1 FROM pragma_database_list WHERE name = 'main' AND (file = '' OR {is_test_file})
) AND NOT EXISTS (
    SELECT 1 FROM {TABLE} AS seal
    JOIN {TABLE} AS archived ON archived.partition = seal.partition AND archived.kind = 'audit.archived'
        AND json_extract(archived.data, '$.last_hash') = seal.previous_hash
    JOIN {TABLE} AS pruned ON pruned.partition = seal.partition AND pruned.kind = 'audit.pruned'
        AND json_extract(pruned.data, '$.last_hash') = seal.previous_hash
    WHERE seal.partition = OLD.partition AND seal.kind = 'audit.sealed'
        AND OLD.sequence BETWEEN json_extract(seal.data, '$.first_sequence') AND json_extract(seal.data, '$.last_sequence')
        AND datetime(OLD.at) <= datetime(json_extract(pruned.data, '$.until'))
)
BEGIN
    SELECT RAISE(ABORT, 'The audit trail is append-only: DELETE is refused.');
END
""",  # noqa: S608 - all parts are constants
    ]


def guard(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _execute(schema_editor, _BY_ITSELF)


def unguard(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _execute(schema_editor, _IN_A_DIRECTORY)


def _execute(schema_editor: BaseDatabaseSchemaEditor, is_test_file: str) -> None:
    if schema_editor.connection.vendor == "sqlite":
        for statement in statements(is_test_file):
            schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("django_apcore", "0008_heartbeat_permission")]

    operations = [migrations.RunPython(guard, unguard)]
