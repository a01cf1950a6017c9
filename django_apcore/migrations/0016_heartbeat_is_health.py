"""The list of heartbeats is called after what its page shows."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("django_apcore", "0015_usage_faults"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="heartbeat",
            options={
                "default_permissions": ("view",),
                "verbose_name": "sign of life",
                "verbose_name_plural": "health",
            },
        ),
    ]
