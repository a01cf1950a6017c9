"""Celery tasks are shown in the preview, and are sent after the commit as the module asked for it."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from celery import chain, chord, current_app, group, shared_task, signature
from celery.signals import before_task_publish
from django.db import transaction

from django_apcore.effects import HeldResultError, UnholdableMessageError
from django_apcore.models import OutboxMessage
from django_apcore.services import deliver_outbox
from tests.django_apcore.effects.runs import Write, execute, execute_approved, only_change, preview
from tests.matrix.models import Document, Order, Tag

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")


@shared_task(name="matrix.add")
def add(one: int, other: int = 0) -> int:
    return one + other


@shared_task(name="matrix.total")
def total(numbers: list[int]) -> int:
    return sum(numbers)


Published = list[tuple[str, Any, dict[str, Any]]]


@pytest.fixture(autouse=True)
def published() -> Iterator[Published]:
    """What is sent to the broker, except by the framework itself."""
    found: Published = []

    def note(sender: str, body: Any, headers: dict[str, Any], **_rest: Any) -> None:
        if not sender.startswith("apcore."):
            found.append((sender, body, {**headers, "routing_key": _rest.get("routing_key")}))

    before_task_publish.connect(note, weak=False)
    yield found
    before_task_publish.disconnect(note)
    OutboxMessage.objects.all().delete()


WAYS: dict[str, tuple[Write, str, dict[str, Any]]] = {
    "delay": (lambda: add.delay(1, other=2), "matrix.add", {"args": [1], "kwargs": {"other": 2}}),
    "apply_async": (
        lambda: add.apply_async((1,), {"other": 2}, countdown=60),
        "matrix.add",
        {"args": [1], "kwargs": {"other": 2}, "options": {"countdown": 60}},
    ),
    "send_task": (
        lambda: current_app.send_task("matrix.far", [1], {"b": 2}),
        "matrix.far",
        {"args": [1], "kwargs": {"b": 2}},
    ),
    "delay_on_commit": (lambda: add.delay_on_commit(1), "matrix.add", {"args": [1]}),
    "apply_async_on_commit": (
        lambda: add.apply_async_on_commit((1,), countdown=5),
        "matrix.add",
        {"args": [1], "options": {"countdown": 5}},
    ),
    "on_commit with delay": (lambda: transaction.on_commit(add.s(1, 2).delay), "matrix.add", {"args": [1, 2]}),
    "signature": (lambda: add.s(2).apply_async((1,)), "matrix.add", {"args": [1, 2]}),
    "signature of another process": (lambda: signature("matrix.far", args=(1,)).delay(), "matrix.far", {"args": [1]}),
}


@pytest.mark.parametrize(("send", "name", "content"), WAYS.values(), ids=WAYS)
def test_every_way_to_send_is_held(send: Write, name: str, content: dict[str, Any], published: Published) -> None:
    record = preview(send)
    change = only_change(record)
    assert (change.action, change.target) == ("enqueue", f"task:{name}")
    assert change.after == content
    assert record.counts == {"task:enqueue": 1}
    assert published == []

    execute_approved(send, record.digest)
    assert published == []
    assert deliver_outbox() == 1
    [(sent, body, _headers)] = published
    assert sent == name
    args, kwargs, _embedded = body
    assert list(args) == content.get("args", [])
    assert kwargs == content.get("kwargs", {})


def test_what_is_sent_keeps_queue_options_and_id(published: Published) -> None:
    ids = []
    execute(lambda: ids.append(add.apply_async((1,), countdown=60, expires=90, queue="slow").id))
    deliver_outbox()
    [(_name, _body, headers)] = published
    assert headers["id"] == ids[0]
    assert headers["eta"] is not None
    assert headers["expires"] is not None
    assert headers["routing_key"] == "slow"


def test_rich_arguments_survive(published: Published) -> None:
    execute(lambda: add.delay(Decimal("1.50"), other=timedelta(days=1).total_seconds()))
    deliver_outbox()
    assert published[0][1][0][0] == Decimal("1.50")


@pytest.mark.parametrize(
    ("make", "name", "first"),
    [
        (lambda: chain(add.s(1), add.s(2)), "chain(matrix.add, matrix.add)", ["matrix.add"]),
        (lambda: add.s(1) | add.s(2), "chain(matrix.add, matrix.add)", ["matrix.add"]),
        (lambda: group(add.s(1), add.s(2)), "group(matrix.add, matrix.add)", ["matrix.add", "matrix.add"]),
        (lambda: group(add.s(number) for number in range(2)), "group(matrix.add, matrix.add)", ["matrix.add"] * 2),
        (lambda: add.chunks([(1, 1), (2, 2)], 1), "group(celery.starmap, celery.starmap)", ["celery.starmap"] * 2),
        (lambda: add.starmap([(1, 1)]), "celery.starmap", ["celery.starmap"]),
    ],
)
def test_canvases_are_held_whole(make: Any, name: str, first: list[str], published: Published) -> None:
    record = preview(lambda: make().apply_async())
    assert only_change(record).target == f"task:{name}"
    assert published == []
    execute_approved(lambda: make().apply_async(), record.digest)
    deliver_outbox()
    assert [sent for sent, _body, _headers in published] == first


def test_a_chord_is_held_whole(published: Published) -> None:
    change = only_change(preview(lambda: chord([add.s(1), add.s(2)])(total.s())))
    assert change.target == "task:chord(matrix.add, matrix.add, matrix.total)"
    assert published == []


def test_the_result_says_clearly_that_there_is_none() -> None:
    results = []
    preview(lambda: results.append(add.delay(1)))
    [result] = results
    assert result.id
    assert result.state == "HELD"
    assert not result.ready()
    assert str(result) == result.id
    for ask in (result.get, result.wait, result.successful, lambda: result.result):
        with pytest.raises(HeldResultError):
            ask()


def test_wrong_arguments_fail_where_they_are_written() -> None:
    with pytest.raises(TypeError):
        preview(lambda: add.delay(1, 2, 3, 4))


def test_arguments_that_are_not_plain_are_refused() -> None:
    with pytest.raises(UnholdableMessageError):
        preview(lambda: add.delay(object()))


def test_the_key_of_a_new_row_is_a_reference() -> None:
    def write() -> None:
        order = Order.objects.create(customer_id=1)
        document = Document.objects.create(title="t")
        add.delay(order.pk, other=str(document.pk))

    record = preview(write)
    [task] = [change for change in record.changes if change.action == "enqueue"]
    assert task.after["args"] == [{"$ref": "new:matrix.Order#1"}]
    assert task.after["kwargs"]["other"] == {"$ref": "new:matrix.Document#1"}
    Order.objects.create(customer_id=1)
    execute_approved(write, record.digest)


def test_which_new_row_is_meant_matters() -> None:
    def write(number: int) -> None:
        orders = [Order.objects.create(customer_id=1, total=total) for total in (1, 2)]
        add.delay(orders[number].pk)

    assert preview(lambda: write(0)).digest != preview(lambda: write(1)).digest


def test_a_send_undone_by_a_savepoint_is_not_sent(published: Published) -> None:
    def write() -> None:
        try:
            with transaction.atomic():
                add.delay_on_commit(1)
                raise ValueError
        except ValueError:
            add.delay_on_commit(2)

    execute(write)
    deliver_outbox()
    assert [list(body[0]) for _name, body, _headers in published] == [[2]]


def test_without_a_run_tasks_are_sent_as_usual(published: Published) -> None:
    add.delay(1)
    assert len(published) == 1
    assert not OutboxMessage.objects.exists()


# -- on_commit --------------------------------------------------------------------------------------------------------

CALLED: list[str] = []


def remember() -> None:
    CALLED.append("called")


def test_other_callbacks_are_shown_and_run_after_the_commit() -> None:
    CALLED.clear()

    def write() -> None:
        Tag.objects.create(name="made")
        transaction.on_commit(remember)
        transaction.on_commit(remember, using="other")

    record = preview(write)
    callbacks = [change for change in record.changes if change.action == "run"]
    assert [change.target for change in callbacks] == [f"on_commit:{__name__}.remember"] * 2
    assert [change.extras.get("x-alias") for change in callbacks] == [None, "other"]
    assert CALLED == []
    execute_approved(write, record.digest)
    assert CALLED == ["called", "called"]
