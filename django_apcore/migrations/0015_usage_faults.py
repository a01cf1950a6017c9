"""Errors that are the module's own, for its health. Of calls that were counted before, all are taken for such."""

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def take_all(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    buckets = apps.get_model("django_apcore", "UsageBucket").objects.using(schema_editor.connection.alias)
    buckets.exclude(errors=0).update(faults=models.F("errors"))


class Migration(migrations.Migration):
    dependencies = [
        ("django_apcore", "0014_outbox_delivered"),
    ]

    operations = [
        migrations.AddField(
            model_name="usagebucket",
            name="faults",
            field=models.PositiveBigIntegerField(
                db_default=0, default=0, help_text="Errors of the module's own, and not of its callers."
            ),
        ),
        migrations.RunPython(take_all, migrations.RunPython.noop),
    ]
