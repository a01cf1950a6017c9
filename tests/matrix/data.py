"""A small world to write to, always the same, and quick to put back."""

import datetime as dt
import uuid
from collections.abc import Iterable

from django.apps import apps
from django.contrib.auth.models import Group as AuthGroup
from django.contrib.auth.models import User
from django.db import connections, models, transaction

from tests.matrix import models as m


def reset() -> None:
    """Empty the tables of the matrix, and fill them as at the start."""
    clear()
    with transaction.atomic():
        _fill()
    for connection in connections.all():
        _restart_sequences(connection)


def clear() -> None:
    """Empty the tables of the matrix, and what its tests leave elsewhere."""
    owned = [*apps.get_app_config("matrix").get_models(include_auto_created=True), User.groups.through, User, AuthGroup]
    for connection in connections.all():
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                cursor.execute("PRAGMA defer_foreign_keys = ON")
            for model in _leaves_first(owned):
                if not model._meta.proxy:
                    cursor.execute(f"DELETE FROM {connection.ops.quote_name(model._meta.db_table)}")


def _leaves_first(owned: Iterable[type[models.Model]]) -> list[type[models.Model]]:
    left, ordered = list(owned), []
    while left:
        for model in left:
            referring = {
                other
                for other in left
                if other is not model
                for field in other._meta.local_fields
                if field.remote_field and field.related_model is model
            }
            if not referring:
                ordered.append(model)
                left.remove(model)
                break
        else:
            raise AssertionError("The models refer to each other in a circle")
    return ordered


def _restart_sequences(connection: object) -> None:
    """PostgreSQL does not see keys that were given explicitly; SQLite goes on after the highest one by itself."""
    owned = list(apps.get_app_config("matrix").get_models(include_auto_created=True))
    style = type("NoStyle", (), {"__getattr__": lambda self, name: str})()
    with connection.cursor() as cursor:  # type: ignore[attr-defined]  # a proxy, says mypy
        for sql in connection.ops.sequence_reset_sql(style, owned):  # type: ignore[attr-defined]  # a proxy, says mypy
            cursor.execute(sql)
        if connection.vendor == "sqlite":  # type: ignore[attr-defined]  # a proxy, says mypy
            cursor.execute("DELETE FROM sqlite_sequence WHERE name LIKE 'matrix_%'")


def _fill() -> None:
    at = dt.datetime(2024, 1, 1, 12, tzinfo=dt.UTC)
    tags = m.Tag.objects.bulk_create([m.Tag(id=k, name=f"t{k}") for k in range(1, 5)])
    m.Group.objects.bulk_create([m.Group(id=k, name=f"g{k}") for k in (1, 2)])
    customers = m.Customer.objects.bulk_create(
        [m.Customer(id=k, name=f"c{k}", email=f"c{k}@x", credit=k * 10, prefs={"n": k}) for k in range(1, 6)]
    )
    m.Customer.objects.update(created_at=at, updated_at=at)
    customers[0].tags.add(*tags[:2])
    customers[0].friends.add(customers[1])
    m.Membership.objects.create(id=1, customer=customers[0], group_id=1, role="boss")
    statuses = ["paid", "open"]
    m.Order.objects.bulk_create(
        [
            m.Order(
                id=k, customer_id=(k + 1) // 2, status=statuses[k % 2], total=k, token=uuid.UUID(int=k), placed_at=at
            )
            for k in range(1, 7)
        ]
    )
    m.OrderLine.objects.bulk_create(
        [m.OrderLine(id=k, order_id=(k + 1) // 2, sku=f"s{k}", quantity=k % 3) for k in range(1, 13)]
    )
    m.Note.objects.bulk_create([m.Note(id=k, order_id=k, text=f"n{k}") for k in range(1, 4)])
    m.Guarded.objects.create(id=1, tag=tags[2])
    m.Fallback.objects.create(id=1, tag=tags[3])
    for k in range(3):
        m.ItalianRestaurant.objects.create(id=k + 1, name=f"p{k}", stars=k, pasta=True)
    m.Document.objects.create(id=uuid.UUID(int=1), title="d1")
    m.Page.objects.create(id=1, document_id=uuid.UUID(int=1), number=1)
    m.Country.objects.create(id=1, code="de", name="D")
    m.City.objects.create(id=1, country_id="de", name="B")
    m.Setting.objects.bulk_create([m.Setting(key=f"k{k}", value=str(k)) for k in range(1, 5)])
    m.Node.objects.create(id=1, name="root")
    m.Node.objects.create(id=2, name="kid", parent_id=1)
    m.Node.objects.create(id=3, name="grandkid", parent_id=2)
    folder = m.Folder.objects.create(id=1, name="f")
    for k in (1, 2):
        m.Attachment.objects.create(id=k, target=folder, name=f"a{k}")
    m.Blob.objects.create(id=1, data=b"\x01", ratio=0.5, day=dt.date(2024, 1, 1), at=at)
    m.Stamp.objects.bulk_create([m.Stamp(id=1, label="s")])
    m.Stamp.objects.update(day=dt.date(2020, 1, 1), hour=dt.time(1))
    m.Remote.objects.using("other").bulk_create([m.Remote(id=k, label=f"r{k}") for k in (1, 2)])
    m.Item.objects.bulk_create([m.Item(tenant=1, code=f"x{k}", quantity=k) for k in range(3)])
    m.Draw.objects.create(id=1, nonce=0.25, note="d")
    m.Strange.objects.create(id=1, odd=1)
