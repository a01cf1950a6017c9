"""Tables that PostgreSQL counts, names or types in its own way."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, models
from django.test.utils import isolate_apps

from tests.django_apcore.effects.runs import only_change, preview

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True, databases="__all__")]


class AnyField(models.Field):  # type: ignore[type-arg]  # as people write it
    """Takes what the driver takes, and returns what it returns."""

    def __init__(self, column_type: str) -> None:
        self.column_type = column_type
        super().__init__()

    def db_type(self, connection: Any) -> str:
        return self.column_type


@pytest.fixture
def schema() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA odd")
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA odd CASCADE")


def sql(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@pytest.mark.usefixtures("schema")
@isolate_apps("tests.matrix")
def test_a_partitioned_table_in_another_schema() -> None:
    class Event(models.Model):
        id = models.IntegerField(primary_key=True)
        name = models.CharField(max_length=10)

        class Meta:
            managed = False
            app_label = "matrix"
            db_table = '"odd"."event"'

    sql(
        "CREATE TABLE odd.event (id int PRIMARY KEY, name text) PARTITION BY RANGE (id)",
        "CREATE TABLE odd.event_low PARTITION OF odd.event FOR VALUES FROM (0) TO (100)",
        "CREATE TABLE odd.event_high PARTITION OF odd.event FOR VALUES FROM (100) TO (200)",
        "CREATE TABLE public.event (id int PRIMARY KEY, name text)",
        "INSERT INTO odd.event VALUES (1, 'a'), (150, 'b')",
    )

    def write() -> None:
        Event.objects.update(name="x")
        Event.objects.create(id=2, name="c")
        Event.objects.filter(pk=150).delete()

    try:
        record = preview(write)
    finally:
        sql("DROP TABLE public.event")
    assert record.gaps == ()
    assert record.counts == {"matrix.Event:insert": 1, "matrix.Event:update": 1, "matrix.Event:delete": 1}


@pytest.mark.usefixtures("schema")
@isolate_apps("tests.matrix")
def test_ranges_and_arrays_have_a_form() -> None:
    from psycopg.types.range import Range

    class Booking(models.Model):
        id = models.IntegerField(primary_key=True)
        span = AnyField("int4range")
        days = AnyField("date[]")

        class Meta:
            managed = False
            app_label = "matrix"
            db_table = '"odd"."booking"'

    sql("CREATE TABLE odd.booking (id int PRIMARY KEY, span int4range, days date[])")
    record = preview(lambda: Booking.objects.create(id=1, span=Range(1, 5), days=[]))
    assert record.complete
    assert only_change(record).after == {"id": 1, "span": {"$range": [1, 5, "[)"]}, "days": []}


@pytest.mark.usefixtures("schema")
@isolate_apps("tests.matrix")
def test_a_value_without_any_form_is_a_gap() -> None:
    class Machine(models.Model):
        id = models.IntegerField(primary_key=True)
        spans = AnyField("int4multirange")

        class Meta:
            managed = False
            app_label = "matrix"
            db_table = '"odd"."machine"'

    sql("CREATE TABLE odd.machine (id int PRIMARY KEY, spans int4multirange)")
    record = preview(lambda: Machine.objects.create(id=1, spans="{[1,2)}"))
    assert not record.complete
    assert record.gaps == ("matrix.Machine.spans: Values of type Multirange have no canonical form.",)
    assert only_change(record).after == {"id": 1, "spans": {"$unknown": "Multirange"}}
