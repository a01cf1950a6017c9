"""PostgreSQL refuses to change or delete audit entries, whoever asks."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

FUNCTION = """
CREATE OR REPLACE FUNCTION django_apcore_refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The audit trail is append-only: % is refused.', TG_OP USING ERRCODE = 'restrict_violation';
END
$$
"""
TRIGGER = """
CREATE TRIGGER django_apcore_audit_append_only BEFORE UPDATE OR DELETE ON django_apcore_auditentry
FOR EACH ROW EXECUTE FUNCTION django_apcore_refuse_audit_change()
"""


def refuse_changes(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(FUNCTION, params=None)
        schema_editor.execute(TRIGGER)


def allow_changes(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP TRIGGER django_apcore_audit_append_only ON django_apcore_auditentry")
        schema_editor.execute("DROP FUNCTION django_apcore_refuse_audit_change()")


class Migration(migrations.Migration):
    dependencies = [("django_apcore", "0001_initial")]

    operations = [migrations.RunPython(refuse_changes, allow_changes)]
