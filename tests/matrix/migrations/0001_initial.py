import uuid

import django
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import django.db.models.functions.math
from django.db import migrations, models

import tests.matrix.models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.CreateModel(
            name="Blob",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("data", models.BinaryField()),
                ("ratio", models.FloatField(default=0)),
                ("span", models.DurationField(null=True)),
                ("day", models.DateField(null=True)),
                ("at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Bulk",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.IntegerField(db_index=True)),
                ("name", models.CharField(default="", max_length=50)),
                ("price", models.DecimalField(decimal_places=2, default=0, max_digits=10)),
                ("data", models.JSONField(default=dict)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
        ),
        migrations.CreateModel(
            name="Country",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("code", models.CharField(max_length=3, unique=True)),
                ("name", models.CharField(max_length=50)),
            ],
        ),
        migrations.CreateModel(
            name="Document",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ("title", models.CharField(max_length=50)),
            ],
        ),
        migrations.CreateModel(
            name="Draw",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("nonce", models.FloatField(db_default=django.db.models.functions.math.Random())),
                ("note", models.CharField(default="", max_length=20)),
            ],
        ),
        migrations.CreateModel(
            name="Folder",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=20)),
            ],
        ),
        migrations.CreateModel(
            name="Group",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=50)),
            ],
        ),
        migrations.CreateModel(
            name="Item",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant", "code", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("tenant", models.IntegerField()),
                ("code", models.CharField(max_length=10)),
                ("quantity", models.IntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Place",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=50)),
            ],
        ),
        migrations.CreateModel(
            name="Remote",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("label", models.CharField(max_length=20)),
            ],
        ),
        migrations.CreateModel(
            name="Setting",
            fields=[
                ("key", models.CharField(max_length=20, primary_key=True, serialize=False)),
                ("value", models.CharField(max_length=50)),
            ],
        ),
        migrations.CreateModel(
            name="Stamp",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField(auto_now=True)),
                ("hour", models.TimeField(auto_now_add=True)),
                ("label", models.CharField(default="", max_length=20)),
            ],
        ),
        migrations.CreateModel(
            name="Strange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("odd", tests.matrix.models.OddField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Tag",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=50, unique=True)),
            ],
        ),
        migrations.CreateModel(
            name="Attachment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("object_id", models.PositiveBigIntegerField()),
                ("name", models.CharField(max_length=20)),
                (
                    "content_type",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="contenttypes.contenttype"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="City",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=50)),
                (
                    "country",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="matrix.country", to_field="code"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Customer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("email", models.CharField(max_length=100, unique=True)),
                ("credit", models.DecimalField(decimal_places=2, default=0, max_digits=10)),
                ("prefs", models.JSONField(default=dict, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("friends", models.ManyToManyField(to="matrix.customer")),
            ],
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("role", models.CharField(default="member", max_length=20)),
                ("customer", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="matrix.customer")),
                ("group", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="matrix.group")),
            ],
        ),
        migrations.AddField(
            model_name="customer",
            name="groups",
            field=models.ManyToManyField(through="matrix.Membership", to="matrix.group"),
        ),
        migrations.CreateModel(
            name="Node",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=20)),
                ("parent", models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to="matrix.node")),
            ],
        ),
        migrations.CreateModel(
            name="Order",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("status", models.CharField(default="open", max_length=20)),
                ("total", models.DecimalField(decimal_places=2, default=0, max_digits=10)),
                ("token", models.UUIDField(default=uuid.uuid4)),
                ("placed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("priority", models.IntegerField(db_default=5)),
                (
                    "double",
                    models.GeneratedField(
                        db_persist=True,
                        expression=django.db.models.expressions.CombinedExpression(
                            models.F("total"), "*", models.Value(2)
                        ),
                        output_field=models.DecimalField(decimal_places=2, max_digits=12),
                    ),
                ),
                (
                    "customer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="orders", to="matrix.customer"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Note",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.CharField(max_length=100)),
                (
                    "order",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to="matrix.order"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="OrderLine",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sku", models.CharField(max_length=20)),
                ("quantity", models.IntegerField(default=1)),
                (
                    "order",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="lines", to="matrix.order"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Page",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.IntegerField()),
                ("body", models.TextField(default="")),
                ("document", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="matrix.document")),
            ],
        ),
        migrations.CreateModel(
            name="Restaurant",
            fields=[
                (
                    "place_ptr",
                    models.OneToOneField(
                        auto_created=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        parent_link=True,
                        primary_key=True,
                        serialize=False,
                        to="matrix.place",
                    ),
                ),
                ("stars", models.IntegerField(default=0)),
            ],
            bases=("matrix.place",),
        ),
        migrations.CreateModel(
            name="PlaceProxy",
            fields=[],
            options={
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("matrix.place",),
        ),
        migrations.CreateModel(
            name="Guarded",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tag", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="matrix.tag")),
            ],
        ),
        migrations.CreateModel(
            name="Fallback",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "tag",
                    models.ForeignKey(
                        default=1, on_delete=django.db.models.deletion.SET_DEFAULT, related_name="+", to="matrix.tag"
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="customer",
            name="tags",
            field=models.ManyToManyField(blank=True, to="matrix.tag"),
        ),
        migrations.CreateModel(
            name="ItalianRestaurant",
            fields=[
                (
                    "restaurant_ptr",
                    models.OneToOneField(
                        auto_created=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        parent_link=True,
                        primary_key=True,
                        serialize=False,
                        to="matrix.restaurant",
                    ),
                ),
                ("pasta", models.BooleanField(default=True)),
            ],
            bases=("matrix.restaurant",),
        ),
    ]

    if django.VERSION >= (6, 1):
        operations += [
            migrations.CreateModel(
                name="CascadeParent",
                fields=[
                    (
                        "id",
                        models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                    ),
                    ("name", models.CharField(max_length=20)),
                ],
            ),
            migrations.CreateModel(
                name="CascadeChild",
                fields=[
                    (
                        "id",
                        models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                    ),
                    ("name", models.CharField(max_length=20)),
                    ("parent", models.ForeignKey(on_delete=models.DB_CASCADE, to="matrix.cascadeparent")),
                ],
            ),
        ]
