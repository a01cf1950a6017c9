"""Only whole segments may leave the audit trail, and nothing else: also SQLite refuses, and PostgreSQL to TRUNCATE.

A segment may leave if the chain itself says so: the entry behind it seals it, and later entries say that it was
archived and pruned. A database whose name begins with `test_`, or that is in memory, may be emptied between tests.
A migration that alters the table on SQLite makes it anew and has to create these triggers again.
"""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

TABLE = "django_apcore_auditentry"

POSTGRESQL = [
    """
CREATE OR REPLACE FUNCTION django_apcore_refuse_audit_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_database() NOT LIKE 'test\\_%' THEN
        RAISE EXCEPTION 'The audit trail is append-only: TRUNCATE is refused.' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END
$$
""",
    """
CREATE OR REPLACE FUNCTION django_apcore_check_audit_delete() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    refused bigint;
BEGIN
    EXECUTE format($query$
        SELECT count(*)
        FROM (
            SELECT partition, min(sequence) AS first, max(sequence) AS last, count(*) AS number, max(at) AS newest
            FROM gone GROUP BY partition
        ) AS segment
        WHERE EXISTS (
            SELECT 1 FROM %1$s AS older
            WHERE older.partition = segment.partition AND older.sequence <= segment.last
        ) OR NOT EXISTS (
            SELECT 1 FROM %1$s AS seal
            JOIN %1$s AS archived ON archived.partition = seal.partition AND archived.kind = 'audit.archived'
            JOIN %1$s AS pruned ON pruned.partition = seal.partition AND pruned.kind = 'audit.pruned'
            JOIN gone AS ending ON ending.partition = seal.partition AND ending.sequence = segment.last
            CROSS JOIN jsonb_build_object('first_sequence', segment.first, 'last_sequence', segment.last,
                'count', segment.number, 'last_hash', ending.hash) AS told
            WHERE seal.partition = segment.partition AND seal.sequence = segment.last + 1
                AND seal.kind = 'audit.sealed' AND seal.previous_hash = ending.hash
                AND seal.data @> told AND archived.data @> told AND pruned.data @> told
                AND segment.newest <= (pruned.data ->> 'until')::timestamptz
                AND (pruned.data ->> 'until')::timestamptz <= clock_timestamp() + interval '1 minute'
        )
    $query$, format('%I.%I', TG_TABLE_SCHEMA, TG_TABLE_NAME)) INTO refused;
    IF refused > 0 THEN
        RAISE EXCEPTION 'The audit trail is append-only: DELETE is refused.'
            USING ERRCODE = 'restrict_violation',
            DETAIL = 'Only a whole segment may be deleted, the oldest one of its chain, once the chain says that it is sealed, archived and pruned.';
    END IF;
    RETURN NULL;
END
$$
""",
    f"DROP TRIGGER django_apcore_audit_append_only ON {TABLE}",
    f"""
CREATE TRIGGER django_apcore_audit_append_only BEFORE UPDATE ON {TABLE}
FOR EACH ROW EXECUTE FUNCTION django_apcore_refuse_audit_change()
""",
    f"""
CREATE TRIGGER django_apcore_audit_no_truncate BEFORE TRUNCATE ON {TABLE}
FOR EACH STATEMENT EXECUTE FUNCTION django_apcore_refuse_audit_truncate()
""",
    f"""
CREATE TRIGGER django_apcore_audit_whole_segments AFTER DELETE ON {TABLE} REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION django_apcore_check_audit_delete()
""",
]
POSTGRESQL_BACK = [
    f"DROP TRIGGER django_apcore_audit_whole_segments ON {TABLE}",
    f"DROP TRIGGER django_apcore_audit_no_truncate ON {TABLE}",
    f"DROP TRIGGER django_apcore_audit_append_only ON {TABLE}",
    f"""
CREATE TRIGGER django_apcore_audit_append_only BEFORE UPDATE OR DELETE ON {TABLE}
FOR EACH ROW EXECUTE FUNCTION django_apcore_refuse_audit_change()
""",
    "DROP FUNCTION django_apcore_check_audit_delete()",
    "DROP FUNCTION django_apcore_refuse_audit_truncate()",
]

_IS_FOR_TESTS = (
    "EXISTS (SELECT 1 FROM pragma_database_list WHERE name = 'main' AND (file = '' OR file LIKE '%/test\\_%' ESCAPE '\\'))"
)
SQLITE = [
    f"""
CREATE TRIGGER django_apcore_audit_no_update BEFORE UPDATE ON {TABLE}
BEGIN
    SELECT RAISE(ABORT, 'The audit trail is append-only: UPDATE is refused.');
END
""",
    f"""
CREATE TRIGGER django_apcore_audit_no_delete BEFORE DELETE ON {TABLE}
WHEN NOT {_IS_FOR_TESTS} AND NOT EXISTS (
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
""",  # noqa: S608 - both names are constants
]
SQLITE_BACK = ["DROP TRIGGER django_apcore_audit_no_delete", "DROP TRIGGER django_apcore_audit_no_update"]


def guard(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _execute(schema_editor, {"postgresql": POSTGRESQL, "sqlite": SQLITE})


def unguard(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _execute(schema_editor, {"postgresql": POSTGRESQL_BACK, "sqlite": SQLITE_BACK})


def _execute(schema_editor: BaseDatabaseSchemaEditor, statements: dict[str, list[str]]) -> None:
    for statement in statements.get(schema_editor.connection.vendor, []):
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("django_apcore", "0003_approval_details_removed")]

    operations = [migrations.RunPython(guard, unguard)]
