"""Changes grouped, counted and broken down to fields."""

import pytest

from django_apcore.admin.presenters import changes
from django_apcore.models import EffectChange


@pytest.mark.parametrize(
    ("action", "sign", "word"),
    [
        ("delete", "−", "deleted"),
        ("update", "~", "changed"),
        ("insert", "+", "inserted"),
        ("send", "↗", "sent"),
        ("enqueue", "»", "queued"),
        ("run", "▸", "run after commit"),
        ("archive", "•", "archive"),
    ],
)
def test_every_action_has_a_sign_and_a_word(action: str, sign: str, word: str) -> None:
    found = changes.act(action)

    assert (found.sign, found.word) == (sign, word)


def test_models_that_lose_rows_come_first() -> None:
    counts = changes.counts({"a.A:insert": 1, "a.A:update": 2, "z.Z:delete": 3, "z.Z:insert": 4})

    assert [(count.kind, count.act.action, count.number) for count in counts] == [
        ("z.Z", "delete", 3),
        ("z.Z", "insert", 4),
        ("a.A", "update", 2),
        ("a.A", "insert", 1),
    ]


def test_totals_add_up_over_models() -> None:
    totals = changes.totals({"a.A:insert": 1, "z.Z:insert": 4, "mail:send": 2, "z.Z:delete": 1})

    assert [(act.action, number) for act, number in totals] == [("delete", 1), ("insert", 5), ("send", 2)]


def test_a_change_shows_the_fields_that_differ() -> None:
    rows = changes.field_rows({"name": "a", "price": "1", "gone": 1}, {"name": "a", "price": "2", "new": 1})

    assert [(row.name, row.before and row.before.text, row.after and row.after.text) for row in rows] == [
        ("price", "1", "2"),
        ("gone", "1", None),
        ("new", None, "1"),
    ]


def test_a_new_row_has_no_before_and_a_deleted_one_no_after() -> None:
    [inserted] = changes.field_rows(None, {"name": None})
    [deleted] = changes.field_rows({"name": "x"}, None)

    assert inserted.before is None
    assert inserted.after is not None
    assert deleted.after is None
    assert deleted.before is not None


def test_snapshots_that_are_no_objects_make_one_row() -> None:
    [row] = changes.field_rows("draft", "published")

    assert row.name == ""
    assert row.before is not None
    assert row.before.text == "draft"


def test_no_snapshots_make_no_rows() -> None:
    assert changes.field_rows(None, None) == ()


def test_fields_come_in_the_order_of_the_model_and_other_keys_after_them() -> None:
    snapshot = {"zz": 1, "name": "x", "unit_price": "1", "id": 7}
    row = EffectChange(kind="store.Track", action="insert", target="store.Track:7", summary="", after=snapshot)

    assert [field.name for field in changes.change_row(row).fields] == ["id", "name", "unit_price", "zz"]


def test_what_was_not_captured_comes_with_the_sentence_of_its_author() -> None:
    fields = {"kind": "store.Track", "action": "update", "target": "store.Track:7", "summary": "Marks it as sold out"}

    assert changes.change_row(EffectChange(**fields)).note == "Marks it as sold out"
    assert changes.change_row(EffectChange(**fields, extras={"x-kind": "store.Track"})).note == ""


def test_rows_are_grouped_by_model_with_its_plural_name() -> None:
    rows = [
        EffectChange(kind="store.Track", action="update", target="store.Track:1", label="Believe", summary="x"),
        EffectChange(kind="store.Track", action="update", target="store.Track:2", summary="x"),
        EffectChange(kind="mail", action="send", target="mail:a@example.com", summary="Summer sale"),
    ]

    tracks, mail = changes.groups(rows)

    assert (tracks.title, [row.label for row in tracks.rows]) == ("Tracks", ["Believe", "2"])
    assert (mail.title, mail.rows[0].label, mail.rows[0].note) == ("Mail", "a@example.com", "Summer sale")


@pytest.mark.parametrize("kind", ["nothing.Known", "nonsense", "", "a.b.c"])
def test_kinds_that_are_no_models_are_named_as_they_are(kind: str) -> None:
    assert changes.kind_title(kind) == (kind or "Other changes")
