"""Every kind of write: those that a record must show exactly, and those that must make it incomplete."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import django
from django.contrib.auth.models import Group as AuthGroup
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.db.models import Case, Count, Exists, F, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Concat, Now

from tests.matrix.models import (
    Attachment,
    Blob,
    City,
    Country,
    Customer,
    Document,
    Draw,
    Folder,
    Guarded,
    ItalianRestaurant,
    Item,
    Node,
    Order,
    OrderLine,
    Page,
    Place,
    PlaceProxy,
    Remote,
    Restaurant,
    Setting,
    Stamp,
    Strange,
    Tag,
)

Write = Callable[[], Any]
EXACT: dict[str, Write] = {}
"""Writes that a complete record shows exactly."""


def exact(write: Write) -> Write:
    EXACT[write.__name__] = write
    return write


# -- one object -------------------------------------------------------------------------------------------------------


@exact
def save_inserts() -> None:
    Customer(name="n", email="n@x").save()


@exact
def save_updates_all_fields() -> None:
    customer = Customer.objects.get(pk=1)
    customer.name = "zz"
    customer.save()


@exact
def save_update_fields() -> None:
    customer = Customer.objects.get(pk=1)
    customer.name = "zz"
    customer.save(update_fields=["name"])


@exact
def save_with_f_expression() -> None:
    customer = Customer.objects.get(pk=1)
    customer.credit = F("credit") + 5
    customer.save()


@exact
def save_explicit_key_that_exists() -> None:
    Setting(key="k1", value="new").save()


@exact
def save_explicit_key_that_is_new() -> None:
    Setting(key="k9", value="new").save()


@exact
def save_without_change() -> None:
    Setting.objects.get(pk="k1").save()


@exact
def save_force_insert() -> None:
    Setting(key="k8", value="n").save(force_insert=True)


@exact
def save_raw() -> None:
    Setting(key="k7", value="raw").save_base(raw=True)


@exact
def save_with_database_defaults_and_generated_column() -> None:
    Order.objects.create(customer_id=1, total=3)


@exact
def save_explicit_value_for_database_default() -> None:
    Order.objects.create(customer_id=1, total=3, priority=9)


@exact
def create_with_random_database_default() -> None:
    Draw.objects.create(note="x")


@exact
def create_without_any_field() -> None:
    Draw.objects.create()


@exact
def dates_set_on_save() -> None:
    Stamp.objects.create(label="new")
    Stamp.objects.get(pk=1).save()


@exact
def delete_cascade_and_set_null() -> None:
    Customer.objects.get(pk=1).delete()


@exact
def delete_set_default() -> None:
    Tag.objects.get(pk=4).delete()


@exact
def delete_tree() -> None:
    Node.objects.get(name="root").delete()


@exact
def delete_generic_relation() -> None:
    Folder.objects.get().delete()


@exact
def delete_protected_is_refused() -> None:
    try:
        Tag.objects.get(pk=3).delete()
    except IntegrityError:
        Guarded.objects.all().delete()
        Tag.objects.get(pk=3).delete()


# -- querysets --------------------------------------------------------------------------------------------------------


@exact
def update_literal() -> None:
    Order.objects.filter(status="open").update(status="void")


@exact
def update_null() -> None:
    Note = Order.note_set.rel.related_model
    Note.objects.update(order=None)


@exact
def update_f_expression() -> None:
    Order.objects.update(total=F("total") * 2)


@exact
def update_join_filter() -> None:
    Order.objects.filter(customer__name__in=["c1", "c2"]).update(status="j")


@exact
def update_aggregate_filter() -> None:
    Customer.objects.annotate(n=Count("orders")).filter(n__gt=1).update(name="agg")


@exact
def update_exists_and_q_filter() -> None:
    lines = OrderLine.objects.filter(order=OuterRef("pk"), quantity=0)
    Order.objects.filter(Exists(lines) | Q(total__gt=5)).update(status="e")


@exact
def update_subquery_and_case() -> None:
    name = Subquery(Customer.objects.filter(pk=OuterRef("customer_id")).values("name")[:1])
    Order.objects.update(status=Case(When(total__gt=4, then=Value("hi")), default=name))


@exact
def update_concat() -> None:
    Customer.objects.update(name=Concat(F("name"), Value("!")))


@exact
def update_where_depends_on_updated_column() -> None:
    Order.objects.filter(total__lt=4).update(total=F("total") + 100)


@exact
def update_ordered_and_locked() -> None:
    Order.objects.select_for_update().order_by("-pk").filter(pk__lt=4).update(status="s")


@exact
def update_slice_as_subquery() -> None:
    Order.objects.filter(pk__in=Order.objects.order_by("-pk").values("pk")[:2]).update(status="last")


@exact
def update_nothing() -> None:
    Order.objects.filter(pk__in=[]).update(status="s")
    Order.objects.filter(pk=-5).update(status="q")


@exact
def update_there_and_back() -> None:
    Order.objects.filter(pk=1).update(status="x")
    Order.objects.filter(pk=1).update(status="open")


@exact
def update_database_now() -> None:
    Order.objects.filter(pk=1).update(placed_at=Now())


@exact
def update_json_null_and_sql_null() -> None:
    Customer.objects.filter(pk=1).update(prefs=None)
    Customer.objects.filter(pk=2).update(prefs=Value(None, output_field=Customer._meta.get_field("prefs")))


@exact
def update_sql_null_to_json_null() -> None:
    Customer.objects.filter(pk=1).update(prefs=None)
    Customer.objects.filter(pk=1).update(prefs=Value(None, output_field=Customer._meta.get_field("prefs")))


@exact
def delete_fast() -> None:
    OrderLine.objects.filter(quantity=1).delete()


@exact
def delete_all() -> None:
    OrderLine.objects.all().delete()


@exact
def delete_join_filter() -> None:
    OrderLine.objects.filter(order__customer__name="c1").delete()


@exact
def delete_many_with_cascades() -> None:
    Order.objects.filter(pk__lte=3).delete()


@exact
def delete_raw() -> None:
    OrderLine.objects.filter(quantity=2)._raw_delete("default")


# -- bulk -------------------------------------------------------------------------------------------------------------


@exact
def bulk_create() -> None:
    Customer.objects.bulk_create([Customer(name=f"b{k}", email=f"b{k}@x") for k in range(30)])


@exact
def bulk_create_explicit_keys() -> None:
    Setting.objects.bulk_create([Setting(key=f"q{k}", value="1") for k in range(5)])


@exact
def bulk_create_mixed_keys() -> None:
    Tag.objects.bulk_create([Tag(name="auto"), Tag(id=900, name="given")])


@exact
def bulk_create_mixed_database_defaults() -> None:
    Order.objects.bulk_create([Order(customer_id=1), Order(customer_id=1, priority=8)])


@exact
def bulk_create_ignore_conflicts() -> None:
    Tag.objects.bulk_create([Tag(name=name) for name in ("t1", "fresh", "t2", "fresh2")], ignore_conflicts=True)


@exact
def bulk_create_update_conflicts() -> None:
    Customer.objects.bulk_create(
        [Customer(name=f"U{k}", email=f"c{k}@x", credit=k) for k in (1, 2, 77)],
        update_conflicts=True,
        unique_fields=["email"],
        update_fields=["name", "credit"],
    )


@exact
def bulk_create_update_conflicts_on_key() -> None:
    Setting.objects.bulk_create(
        [Setting(key="k1", value="U"), Setting(key="knew", value="U")],
        update_conflicts=True,
        unique_fields=["key"],
        update_fields=["value"],
    )


@exact
def bulk_create_update_conflicts_with_own_rows() -> None:
    for value in ("first", "second"):
        Setting.objects.bulk_create(
            [Setting(key="knew", value=value)],
            update_conflicts=True,
            unique_fields=["key"],
            update_fields=["value"],
        )


@exact
def bulk_create_batches() -> None:
    Tag.objects.bulk_create([Tag(name=f"bs{k}") for k in range(25)], batch_size=10)


@exact
def bulk_update() -> None:
    orders = list(Order.objects.all())
    for number, order in enumerate(orders):
        order.total, order.status = number, f"bu{number}"
    Order.objects.bulk_update(orders, ["total", "status"], batch_size=4)


# -- many-to-many and related managers --------------------------------------------------------------------------------


@exact
def m2m_add() -> None:
    Customer.objects.get(pk=3).tags.add(1, 2, 3)


@exact
def m2m_add_existing_and_new() -> None:
    Customer.objects.get(pk=1).tags.add(1, 2, 3)


@exact
def m2m_remove() -> None:
    Customer.objects.get(pk=1).tags.remove(1)


@exact
def m2m_set() -> None:
    Customer.objects.get(pk=1).tags.set([3, 4])


@exact
def m2m_clear() -> None:
    Customer.objects.get(pk=1).tags.clear()


@exact
def m2m_symmetrical() -> None:
    Customer.objects.get(pk=3).friends.add(Customer.objects.get(pk=4))


@exact
def m2m_through_defaults() -> None:
    Customer.objects.get(pk=4).groups.add(1, 2, through_defaults={"role": "boss"})


@exact
def m2m_create() -> None:
    Customer.objects.get(pk=4).tags.create(name="via m2m")


@exact
def reverse_foreign_key_add_and_clear() -> None:
    Customer.objects.get(pk=5).orders.add(Order.objects.get(pk=1), Order.objects.get(pk=2))
    Order.objects.get(pk=3).note_set.clear()


@exact
def get_or_create_creates() -> None:
    Tag.objects.get_or_create(name="goc")


@exact
def get_or_create_gets() -> None:
    Tag.objects.get_or_create(name="t1")


@exact
def update_or_create_updates() -> None:
    Tag.objects.update_or_create(name="t1", defaults={"name": "t1b"})


@exact
def update_or_create_creates() -> None:
    Tag.objects.update_or_create(name="uoc", defaults={})


# -- inheritance, proxies, keys of all sorts --------------------------------------------------------------------------


@exact
def inherited_insert() -> None:
    ItalianRestaurant.objects.create(name="new", stars=5, pasta=False)


@exact
def inherited_save() -> None:
    restaurant = ItalianRestaurant.objects.get(pk=1)
    restaurant.name, restaurant.stars = "X", 9
    restaurant.save()


@exact
def inherited_update_over_parents() -> None:
    ItalianRestaurant.objects.update(name="N", stars=1, pasta=False)


@exact
def inherited_update_parent_only() -> None:
    Restaurant.objects.filter(stars__gte=1).update(name="P")


@exact
def inherited_delete() -> None:
    ItalianRestaurant.objects.get(pk=1).delete()


@exact
def inherited_delete_keep_parents() -> None:
    ItalianRestaurant.objects.get(pk=1).delete(keep_parents=True)


@exact
def parent_of_existing_place() -> None:
    place = Place.objects.create(name="bare")
    Restaurant(place_ptr=place, name="bare", stars=2).save()


@exact
def proxy_update_and_delete() -> None:
    PlaceProxy.objects.filter(name="p0").update(name="pp")
    PlaceProxy.objects.filter(name="p1").delete()


@exact
def uuid_key() -> None:
    document = Document.objects.create(title="u")
    Page.objects.create(document=document, number=1)


@exact
def foreign_key_to_field() -> None:
    Country.objects.create(code="fr", name="F")
    City.objects.create(country_id="fr", name="P")


@exact
def composite_key() -> None:
    Item.objects.create(tenant=2, code="a", quantity=1)
    Item.objects.filter(tenant=1, code="x0").update(quantity=F("quantity") + 7)
    item = Item.objects.get(pk=(1, "x1"))
    item.quantity = 99
    item.save()
    Item.objects.get(pk=(1, "x2")).delete()


@exact
def composite_key_upsert() -> None:
    Item.objects.bulk_create(
        [Item(tenant=1, code="x0", quantity=50), Item(tenant=9, code="n", quantity=1)],
        update_conflicts=True,
        unique_fields=["tenant", "code"],
        update_fields=["quantity"],
    )


@exact
def generic_foreign_key() -> None:
    Attachment.objects.create(target=Folder.objects.create(name="new"), name="a")


@exact
def values_of_all_types() -> None:
    Blob.objects.create(
        data=b"\x00\xff",
        ratio=1 / 3,
        span=dt.timedelta(days=1, microseconds=3),
        day=dt.date(2024, 1, 2),
        at=dt.datetime(2024, 1, 2, 3, tzinfo=dt.UTC),
    )
    Blob.objects.filter(pk=1).update(data=b"x", ratio=2.5)
    customer = Customer.objects.get(pk=1)
    customer.prefs = {"b": [1, {"c": None}]}
    customer.save()


@exact
def value_of_a_type_without_canonical_form() -> None:
    Strange.objects.create(odd=2)


# -- the course of a run ----------------------------------------------------------------------------------------------


@exact
def create_update_delete_leaves_nothing() -> None:
    tag = Tag.objects.create(name="tmp")
    tag.name = "tmp2"
    tag.save()
    tag.delete()


@exact
def inner_rollback() -> None:
    try:
        with transaction.atomic():
            Tag.objects.create(name="inner")
            Order.objects.update(status="inner")
            Node.objects.all().delete()
            raise ValueError
    except ValueError:
        pass
    Order.objects.filter(pk=1).update(status="outer")


@exact
def inner_rollback_twice_nested() -> None:
    try:
        with transaction.atomic():
            Tag.objects.create(name="outer savepoint")
            try:
                with transaction.atomic():
                    Tag.objects.create(name="t1")
            except IntegrityError:
                Tag.objects.create(name="inner savepoint")
            raise ValueError
    except ValueError:
        Tag.objects.create(name="kept")


@exact
def integrity_error_handled() -> None:
    try:
        with transaction.atomic():
            Tag.objects.create(name="t1")
    except IntegrityError:
        Tag.objects.filter(name="t1").update(name="t1-dup")


@exact
def integrity_error_of_many_rows_handled() -> None:
    try:
        with transaction.atomic():
            Tag.objects.bulk_create([Tag(name="a1"), Tag(name="a2"), Tag(name="t1"), Tag(name="a3")])
    except IntegrityError:
        Tag.objects.create(name="after")


@exact
def integrity_error_of_update_handled() -> None:
    try:
        with transaction.atomic():
            Tag.objects.update(name="all the same")
    except IntegrityError:
        Tag.objects.create(name="after")


@exact
def savepoint_by_hand() -> None:
    savepoint = transaction.savepoint()
    Tag.objects.create(name="undone")
    transaction.savepoint_rollback(savepoint)
    savepoint = transaction.savepoint()
    Tag.objects.create(name="done")
    transaction.savepoint_commit(savepoint)


@exact
def second_database() -> None:
    Remote.objects.using("other").create(label="n")
    Remote.objects.using("other").filter(label="r1").update(label="r2")
    Tag.objects.create(name="both")


@exact
def delete_and_create_with_same_key() -> None:
    Setting.objects.filter(pk="k1").delete()
    Setting.objects.create(key="k1", value="again")


@exact
def iterate_and_save() -> None:
    for order in Order.objects.iterator():
        order.status = "it"
        order.save()


@exact
def users_and_groups() -> None:
    user = User.objects.create_user("bob", "b@x", "pw")
    user.groups.add(AuthGroup.objects.create(name="staff"))


# -- what nobody can follow -------------------------------------------------------------------------------------------

INCOMPLETE: dict[str, Write] = {}
"""Writes that must make the record incomplete, although the module carries on."""
BOTH = frozenset({"sqlite", "postgresql"})
ONLY: dict[str, frozenset[str]] = {}
"""The databases on which a write of INCOMPLETE is possible."""


def incomplete(*vendors: str) -> Callable[[Write], Write]:
    def register(write: Write) -> Write:
        INCOMPLETE[write.__name__] = write
        ONLY[write.__name__] = frozenset(vendors) or BOTH
        return write

    return register


def _sql(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@incomplete()
def raw_update() -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE matrix_order SET status = %s WHERE id < 3", ["raw"])


@incomplete()
def raw_insert_many() -> None:
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO matrix_setting(key, value) VALUES (%s, %s)", [("e1", "1"), ("e2", "2")])


@incomplete()
def raw_queryset_that_writes() -> None:
    statement = "UPDATE matrix_setting SET value='cte' WHERE key='k1' RETURNING *"
    if connection.vendor == "postgresql":
        statement = f"WITH x AS ({statement}) SELECT * FROM x"
    list(Setting.objects.raw(statement))


@incomplete()
def driver_cursor() -> None:
    connection.connection.cursor().execute("UPDATE matrix_setting SET value='driver'")


@incomplete()
def driver_writes_to_a_table_of_the_orm() -> None:
    Setting.objects.filter(key="k1").update(value="orm")
    connection.connection.cursor().execute("UPDATE matrix_setting SET value='driver' WHERE key='k2'")


@incomplete("sqlite")
def driver_repeats_a_statement_of_the_orm() -> None:
    Setting.objects.filter(key="k1").update(value="orm")
    statement = 'UPDATE "matrix_setting" SET "value" = ? WHERE "matrix_setting"."key" = ?'
    connection.connection.cursor().execute(statement, ["driver", "k2"])


@incomplete()
def primary_key_update() -> None:
    Setting.objects.filter(key="k1").update(key="k1x")


@incomplete()
def schema_change() -> None:
    _sql("CREATE TABLE matrix_adhoc (id int)")


@incomplete()
def schema_change_by_driver() -> None:
    connection.connection.cursor().execute("CREATE TABLE matrix_adhoc (id int)")


@incomplete()
def empty_a_table() -> None:
    _sql("TRUNCATE matrix_orderline" if connection.vendor == "postgresql" else "DELETE FROM matrix_orderline")


@incomplete()
def trigger_writes_another_table() -> None:
    Node.objects.filter(name="grandkid").update(name="trigger")


@incomplete()
def commit_by_sql() -> None:
    Tag.objects.create(name="x")
    _sql("COMMIT")


@incomplete("postgresql")
def function_that_writes() -> None:
    _sql("SELECT matrix_sneaky()")


@incomplete("postgresql")
def procedure_call() -> None:
    with connection.cursor() as cursor:
        cursor.callproc("matrix_sneaky")


@incomplete("postgresql")
def function_in_an_orm_expression() -> None:
    from django.db.models import Func, IntegerField

    with transaction.atomic():  # else Django itself considers the transaction broken by the refusal
        Setting.objects.filter(key="k1").update(value=Func(function="matrix_sneaky", output_field=IntegerField()))


@incomplete("postgresql")
def copy_from() -> None:
    with connection.cursor() as cursor, cursor.copy("COPY matrix_setting (key, value) FROM STDIN") as copy:
        copy.write_row(("copy1", "v"))


@incomplete("postgresql")
def next_sequence_value() -> None:
    _sql("SELECT nextval('matrix_tag_id_seq')")


@incomplete("postgresql")
def session_lock() -> None:
    _sql("SELECT pg_advisory_lock(1)", "SELECT pg_advisory_unlock(1)")


@incomplete("postgresql")
def anonymous_block() -> None:
    _sql("DO $$ BEGIN UPDATE matrix_setting SET value = 'do'; END $$")


@incomplete("sqlite")
def pragma_that_writes() -> None:
    _sql("PRAGMA user_version = 7")


if django.VERSION >= (6, 1):

    @incomplete()
    def cascade_by_the_database() -> None:
        from tests.matrix.models import CascadeChild, CascadeParent

        parent = CascadeParent.objects.create(name="p")
        CascadeChild.objects.create(parent=parent, name="c")
        CascadeParent.objects.all().delete()
