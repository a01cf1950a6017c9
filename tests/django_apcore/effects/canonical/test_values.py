"""Values as canonical JSON."""

import datetime as dt
import uuid
from decimal import Decimal
from typing import Any

import pytest
from django.utils.translation import gettext_lazy

from apcore.redaction import REDACTED_VALUE
from apcore.schema import canonical_json
from django_apcore.effects.canonical.values import (
    UncanonicalError,
    canonical_value,
    describe,
    known_after_apply,
    redacted,
    unchecked,
)

CET = dt.timezone(dt.timedelta(hours=1))
FORMS: list[tuple[Any, Any]] = [
    (None, None),
    (True, True),
    (1, 1),
    (1.5, 1.5),
    (float("nan"), {"$float": "nan"}),
    (float("-inf"), {"$float": "-inf"}),
    (Decimal("7.50"), "7.50"),
    (Decimal("1E+2"), "100"),
    ("text", "text"),
    (gettext_lazy("text"), "text"),
    (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (dt.datetime(2024, 1, 2, 3, 4, 5, 6, tzinfo=CET), "2024-01-02T02:04:05.000006+00:00"),
    (dt.datetime(2024, 1, 2, 3), "2024-01-02T03:00:00"),
    (dt.date(2024, 1, 2), "2024-01-02"),
    (dt.time(3, 4), "03:04:00"),
    (dt.timedelta(days=1, microseconds=3), "P1DT00H00M00.000003S"),
    (b"\x00", {"$binary": {"bytes": 1, "sha256": "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"}}),
    (memoryview(b""), canonical_value(b"")),
    ([1, (2, "x")], [1, [2, "x"]]),
    ({"a": Decimal(1), 2: None}, {"a": "1", "2": None}),
    ({"$ref": "x"}, {"$object": {"$ref": "x"}}),
    ({"a": {"$object": 1}}, {"a": {"$object": {"$object": 1}}}),
]


@pytest.mark.parametrize(("value", "form"), FORMS, ids=[f"{type(value).__name__}-{form}" for value, form in FORMS])
def test_forms(value: Any, form: Any) -> None:
    assert canonical_json(canonical_value(value)) == canonical_json(form)


@pytest.mark.parametrize("value", [object(), {1, 2}, 1j, [object()]])
def test_unknown_types_are_refused(value: Any) -> None:
    with pytest.raises(UncanonicalError):
        canonical_value(value)


def test_redacted_values_can_be_compared_but_not_read() -> None:
    assert redacted("secret") == redacted("secret")
    assert redacted("secret") != redacted("other")
    assert "secret" not in str(redacted("secret"))


@pytest.mark.parametrize(
    ("canonical", "words"),
    [
        (None, "nothing"),
        (True, "true"),
        ("two\nlines", "two lines"),
        ("x" * 50, "x" * 39 + "…"),
        ({"a": 1}, '{"a":1}'),
        (known_after_apply("id"), "(id, known after apply)"),
        ({"$ref": "new:m#1"}, "new:m#1"),
        (redacted("secret"), REDACTED_VALUE),
        (unchecked("field"), "(not checked)"),
        (canonical_value(b"abc"), "(3 bytes)"),
    ],
)
def test_words(canonical: Any, words: str) -> None:
    assert describe(canonical) == words
