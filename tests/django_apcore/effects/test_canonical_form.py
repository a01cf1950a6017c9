"""The digest is over meaning: the same for the same effect on other keys and at another time, and for nothing else."""

import datetime as dt
import itertools
import json
import random
import uuid
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone

from apcore.approval import EffectDriftError
from tests.django_apcore.effects.runs import Write, execute_approved, preview
from tests.matrix.models import (
    Attachment,
    Blob,
    Customer,
    Document,
    Draw,
    Folder,
    ItalianRestaurant,
    Node,
    Note,
    Order,
    OrderLine,
    Page,
    Place,
    Remote,
    Setting,
    Stamp,
    Tag,
)
from tests.matrix.snapshot import snapshot

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")

STABLE: dict[str, tuple[Write, Write]] = {}
"""Pairs of writes with the same effect, although others use up keys between them."""
DIFFERENT: dict[str, tuple[Write, Write, Write]] = {}
"""What is approved, what happens in between, and what is then refused."""


def stable(first: Write, second: Write | None = None) -> Write:
    STABLE[first.__name__] = (first, second or first)
    return first


def same_as(first: Write) -> Callable[[Write], Write]:
    def register(second: Write) -> Write:
        STABLE[f"{first.__name__} and {second.__name__}"] = (first, second)
        return second

    return register


def different(name: str, first: Write, second: Write, between: Write = lambda: None) -> None:
    DIFFERENT[name] = (first, second, between)


@pytest.mark.req("DR-06")
@pytest.mark.parametrize(("first", "second"), STABLE.values(), ids=STABLE)
def test_stable(first: Write, second: Write) -> None:
    record = preview(first)
    assert record.complete, record.gaps
    assert record.total
    others_work()
    execute_approved(second, record.digest)


@pytest.mark.req("DR-09", "DR-10", "DR-11")
@pytest.mark.parametrize(("first", "second", "between"), DIFFERENT.values(), ids=DIFFERENT)
def test_different(first: Write, second: Write, between: Write) -> None:
    record = preview(first)
    between()
    start = snapshot()
    with pytest.raises(EffectDriftError):
        execute_approved(second, record.digest)
    assert snapshot() == start, "something was committed that nobody approved"


def others_work() -> None:
    """Somebody else makes rows, so that all keys move on."""
    for number in range(random.randint(1, 3)):
        Customer.objects.create(name="zz", email=f"other{number}@x")
        Tag.objects.create(name=f"other{number}")
        Node.objects.create(name="zz")
        Folder.objects.create(name="zz")
        Place.objects.create(name="zz")
        Stamp.objects.create(label="zz")
    order = Order.objects.create(customer_id=5)
    OrderLine.objects.create(order=order, sku="zz")
    Draw.objects.create(note="zz")
    Blob.objects.create(data=b"zz")
    Attachment.objects.create(target=Folder.objects.first(), name="zz")


def customer(**fields: Any) -> Customer:
    return Customer.objects.create(**{"name": "n", "email": "n@x", **fields})


# -- stable -----------------------------------------------------------------------------------------------------------


@stable
def automatic_key() -> None:
    Tag.objects.create(name="q")


@stable
def graph() -> None:
    buyer = customer()
    orders = [Order.objects.create(customer=buyer, total=total) for total in (1, 2)]
    for order in orders:
        for number in (0, 1):
            OrderLine.objects.create(order=order, sku=f"{order.total}-{number}")
    buyer.tags.add(Tag.objects.get(pk=1), Tag.objects.create(name="fresh"))
    Note.objects.filter(pk=1).update(order=orders[1])


@same_as(graph)
def graph_made_in_another_order() -> None:
    buyer = customer()
    orders = [Order.objects.create(customer=buyer, total=total) for total in (2, 1)]
    for order in reversed(orders):
        for number in (1, 0):
            OrderLine.objects.create(order=order, sku=f"{order.total}-{number}")
    Note.objects.filter(pk=1).update(order=orders[0])
    buyer.tags.add(Tag.objects.create(name="fresh"), Tag.objects.get(pk=1))


@stable
def uuid_key_and_reference() -> None:
    Page.objects.create(document=Document.objects.create(title="t"), number=1)


@stable
def uuid_default_and_times() -> None:
    Order.objects.create(customer=customer(), total=3)


@stable
def auto_now_on_update() -> None:
    one = Customer.objects.get(pk=2)
    one.name = "k"
    one.save()


@stable
def auto_now_dates() -> None:
    Stamp.objects.get(pk=1).save()
    Stamp.objects.create(label="new")


@stable
def random_database_default() -> None:
    Draw.objects.create(note="x")


@stable
def time_asked_for_by_code() -> None:
    Blob.objects.create(data=b"", at=timezone.now())


@stable
def generic_reference() -> None:
    Attachment.objects.create(target=Folder.objects.create(name="F"), name="a")


@stable
def two_levels_of_inheritance() -> None:
    ItalianRestaurant.objects.create(name="x", stars=1)


@stable
def chain() -> None:
    top = Node.objects.create(name="a")
    middle = Node.objects.create(name="b", parent=top)
    Node.objects.create(name="c", parent=middle)


@stable
def cycle() -> None:
    first = Node.objects.create(name="a")
    first.parent = Node.objects.create(name="b", parent=first)
    first.save()


@stable
def cycle_of_twins() -> None:
    nodes = [Node.objects.create(name="same") for _ in range(6)]
    for node, following in zip(nodes, nodes[1:] + nodes[:1], strict=True):
        node.parent = following
        node.save()


@stable
def twins() -> None:
    order = Order.objects.create(customer_id=1, total=1)
    for _ in range(3):
        OrderLine.objects.create(order=order, sku="same")


def refer_to_one_of_three_twins(number: int) -> None:
    orders = [Order.objects.create(customer_id=1, total=1) for _ in range(3)]
    Note.objects.filter(pk=1).update(order=orders[number])


@stable
def first_of_twins_is_referred_to() -> None:
    refer_to_one_of_three_twins(0)


@same_as(first_of_twins_is_referred_to)
def last_of_twins_is_referred_to() -> None:
    refer_to_one_of_three_twins(2)


@stable
def json_in_one_order() -> None:
    Customer.objects.filter(pk=1).update(prefs={"a": 1, "b": {"x": 1, "y": 2}})


@same_as(json_in_one_order)
def json_in_another_order() -> None:
    Customer.objects.filter(pk=1).update(prefs={"b": {"y": 2, "x": 1}, "a": 1})


@stable
def decimal_with_one_place() -> None:
    Customer.objects.filter(pk=1).update(credit=Decimal("7.5"))


@same_as(decimal_with_one_place)
def decimal_with_two_places() -> None:
    Customer.objects.filter(pk=1).update(credit=Decimal("7.50"))


@stable
def uuid_of_a_new_row_in_other_places() -> None:
    document = Document.objects.create(title="x")
    Customer.objects.filter(pk=1).update(prefs={"document": str(document.pk), "list": [document.pk.hex]})
    Setting.objects.create(key="last", value=str(document.pk))


@stable
def in_one_step() -> None:
    Order.objects.filter(pk=1).update(total=50)


@same_as(in_one_step)
def in_two_steps() -> None:
    Order.objects.filter(pk=1).update(total=49)
    Order.objects.filter(pk=1).update(total=F("total") + 1)


@stable
def rows_while_others_change() -> None:
    Order.objects.filter(customer_id=1).update(total=F("total") + 1)


@stable
def twenty_rows() -> None:
    for number in range(20):
        Tag.objects.create(name=f"n{number}")


@same_as(twenty_rows)
def twenty_rows_backwards() -> None:
    for number in reversed(range(20)):
        Tag.objects.create(name=f"n{number}")


@same_as(twenty_rows)
def twenty_rows_at_once() -> None:
    Tag.objects.bulk_create([Tag(name=f"n{number}") for number in range(20)])


# -- different --------------------------------------------------------------------------------------------------------


def creates(make: Callable[[Any], Any], first: Any, second: Any) -> tuple[Write, Write]:
    return (lambda: make(first)), (lambda: make(second))


def order_line_for(number: int) -> None:
    orders = [Order.objects.create(customer_id=1, total=total) for total in (1, 2)]
    OrderLine.objects.create(order=orders[number], sku="s")


def order_lines_swapped(number: int) -> None:
    orders = [Order.objects.create(customer_id=1, total=total) for total in (1, 2)]
    OrderLine.objects.create(order=orders[number], sku="s")
    OrderLine.objects.create(order=orders[1 - number], sku="t")


def raise_totals() -> None:
    Order.objects.filter(customer_id=1).update(total=F("total") + 1)


def delete_order() -> None:
    Order.objects.filter(pk=1).delete()


def note_of(order: Callable[[Order], int]) -> None:
    new = Order.objects.create(customer_id=1, total=9)
    Note.objects.filter(pk=1).update(order_id=order(new))


def self_reference(refers: bool) -> None:
    node = Node.objects.create(name="s")
    if refers:
        node.parent = node
        node.save()


def year(number: int) -> dt.datetime:
    return dt.datetime(number, 1, 1, tzinfo=dt.UTC)


different("created value", *creates(lambda v: Tag.objects.create(name=v), "a", "b"))
different("reference to another row", *creates(lambda v: Order.objects.create(customer_id=v), 1, 2))
different("child of another new parent", *creates(order_line_for, 0, 1))
different("children swapped between new parents", *creates(order_lines_swapped, 0, 1))
different("row changed meanwhile", raise_totals, raise_totals, lambda: Order.objects.filter(pk=1).update(total=77))
different("one row more", raise_totals, raise_totals, lambda: Order.objects.create(customer_id=1, total=1))
different("one row fewer", raise_totals, raise_totals, lambda: Order.objects.filter(pk=2).delete())
different("deleted row changed", delete_order, delete_order, lambda: Order.objects.filter(pk=1).update(status="o"))
different("cascade has another child", delete_order, delete_order, lambda: OrderLine.objects.create(order_id=1))
different("explicit key", *creates(lambda v: Tag.objects.create(id=v, name="x"), 1000, 1001))
different(
    "automatic or explicit key", *creates(lambda v: Tag.objects.create(**v), {"name": "x"}, {"name": "x", "id": 99})
)
different(
    "auto_now field set", *creates(lambda v: Customer.objects.filter(pk=1).update(updated_at=year(v)), 2020, 2021)
)
different(
    "now or a literal", *creates(lambda v: Blob.objects.create(data=b"", at=v()), timezone.now, lambda: year(2031))
)
different("uuid literal", *creates(lambda v: Document.objects.create(id=uuid.UUID(int=v)), 1 << 90, 1 << 91))
different("uuid default or literal", Document.objects.create, lambda: Document.objects.create(id=uuid.uuid4()))
for one, other in (
    ("1", 1),
    (True, 1),
    (1, 1.5),
    (None, "null"),
    ("", None),
    ([], {}),
    ({"a": None}, {}),
    ("$known_after_apply", {"$known_after_apply": "now"}),
    ({"$ref": "x"}, "x"),
    ({"$object": {}}, {}),
):
    different(
        f"json {one!r} or {other!r}",
        *creates(lambda v: Customer.objects.filter(pk=1).update(prefs={"k": v}), one, other),
    )
different("empty text or a word", *creates(lambda v: Setting.objects.create(key="a", value=v), "", "None"))
different("float by one bit", *creates(lambda v: Blob.objects.create(data=b"", ratio=v), 0.1, 0.10000000000000002))
different("decimal by a cent", *creates(lambda v: customer(credit=Decimal(v)), "1.00", "1.01"))
different("bytes", *creates(lambda v: Blob.objects.create(data=v), b"a", b"b"))
different("a microsecond", *creates(lambda v: Blob.objects.create(data=b"", span=dt.timedelta(microseconds=v)), 0, 1))
different("other database", *creates(lambda v: Remote.objects.using(v).create(label="x"), "other", "default"))
different(
    "two or three twins", *creates(lambda v: [OrderLine.objects.create(order_id=1, sku="s") for _ in range(v)], 2, 3)
)
different("self reference or none", *creates(self_reference, True, False))
different("new row or existing row", *creates(note_of, lambda new: new.pk, lambda new: 2))
different("one row more created", *creates(lambda v: [Tag.objects.create(name=each) for each in v], "a", "ab"))
different(
    "delete or update",
    Setting.objects.filter(pk="k1").delete,
    lambda: Setting.objects.filter(pk="k1").update(value="x"),
)
different(
    "constant default overridden", *creates(lambda v: Order.objects.create(customer_id=1, **v), {}, {"priority": 6})
)
different("random default or literal", *creates(lambda v: Draw.objects.create(**v), {}, {"nonce": 0.5}))
different("another tag", *creates(lambda v: Customer.objects.get(pk=3).tags.set([v]), 1, 2))
different("sql null or json null", *creates(lambda v: Customer.objects.filter(pk=1).update(prefs=v), None, {"x": None}))


# -- a row's other fields ---------------------------------------------------------------------------------------------


def test_a_change_in_an_unrelated_field_of_the_same_row_does_not_matter() -> None:
    def write() -> None:
        Order.objects.filter(pk=1).update(status="z")

    record = preview(write)
    Order.objects.filter(pk=1).update(total=999)
    execute_approved(write, record.digest)


@pytest.mark.parametrize(
    "write",
    [
        lambda: Setting.objects.create(key=f"order-{Tag.objects.create(name='x').pk}", value=""),
        lambda: Blob.objects.create(data=b"", at=timezone.now() + dt.timedelta(days=30)),
        lambda: Document.objects.create(pk=uuid.uuid4(), title="t"),
        lambda: Setting.objects.create(key="r", value=str(random.random())),
    ],
    ids=["key inside a text", "a month from now", "uuid made by code", "random number made by code"],
)
def test_what_is_never_stable_shows_when_measured_twice(write: Write) -> None:
    first = preview(write)
    if connection.vendor == "sqlite":  # which gives the key of the preview out again
        others_work()
    assert preview(write).digest != first.digest


# -- random graphs ----------------------------------------------------------------------------------------------------

Graph = list[tuple[str, tuple[str, int] | None]]
"""Nodes by name, and what each refers to: another new node by number, or an old one by key."""


def test_random_graphs_have_the_same_digest_exactly_if_they_are_alike() -> None:
    rng = random.Random(7)
    for _ in range(60):
        one = random_graph(rng)
        order = list(range(len(one)))
        digest = preview(build(one, order), aliases=["default"]).digest
        rng.shuffle(order)
        Node.objects.create(name="zz")
        assert preview(build(one, order), aliases=["default"]).digest == digest, one
        other = mutated(rng, one)
        same = preview(build(other, range(len(other))), aliases=["default"]).digest == digest
        assert same == alike(one, other), (one, other)


def random_graph(rng: random.Random) -> Graph:
    size = rng.randint(2, 6)
    return [(rng.choice("ab"), random_target(rng, size) if rng.random() < 0.75 else None) for _ in range(size)]


def random_target(rng: random.Random, size: int) -> tuple[str, int]:
    return rng.choice([("new", rng.randrange(size)), ("old", rng.randint(1, 3))])


def mutated(rng: random.Random, graph: Graph) -> Graph:
    other = json.loads(json.dumps(graph))
    other = [(name, tuple(target) if target else None) for name, target in other]
    at = rng.randrange(len(other))
    name, target = other[at]
    if rng.random() < 0.4:
        other[at] = ("b" if name == "a" else "a", target)
    else:
        other[at] = (name, rng.choice([None, random_target(rng, len(other))]))
    return other


def build(graph: Graph, order: Iterable[int]) -> Write:
    def write() -> None:
        made = {number: Node.objects.create(name=graph[number][0]) for number in order}
        for number in order:
            if target := graph[number][1]:
                kind, which = target
                parent = made[which].pk if kind == "new" else which
                Node.objects.filter(pk=made[number].pk).update(parent_id=parent)

    return write


def alike(one: Graph, other: Graph) -> bool:
    """Whether some renumbering of the new nodes makes the graphs equal."""

    def renumbered(graph: Graph, places: tuple[int, ...]) -> Graph:
        moved: Graph = [("", None)] * len(graph)
        for number, (name, target) in enumerate(graph):
            if target and target[0] == "new":
                target = ("new", places[target[1]])
            moved[places[number]] = (name, target)
        return moved

    return any(renumbered(one, places) == other for places in itertools.permutations(range(len(one))))
