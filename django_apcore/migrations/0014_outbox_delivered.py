"""Messages that were delivered long ago are found by an index."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('django_apcore', '0013_execution_begun_at'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='outboxmessage',
            index=models.Index(condition=models.Q(('delivered_at__isnull', False)), fields=['delivered_at'], name='apcore_outbox_delivered'),
        ),
    ]
