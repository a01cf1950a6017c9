import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.errors import SchemaValidationError
from apcore.schema import compile_schema

EXAMPLES = [
    (
        "date",
        ["2024-02-29", "0001-01-01"],
        ["2023-02-29", "20240229", "2024-W09-4", "2024-2-9", "2024-02-29\n", "x", ""],
    ),
    (
        "time",
        ["12:00:00", "12:00", "23:59:59.999999", "12:00:00Z", "12:00:00+02:00"],
        ["24:00:00", "12", "noon", "12:00:0"],
    ),
    (
        "date-time",
        ["2024-02-29T12:00:00Z", "2024-02-29T12:00:00+01:00", "2024-02-29 12:00:00", "2024-02-29T12:00:00.123z"],
        ["2024-02-29", "2024-02-29T", "1700000000", "2023-02-29T12:00:00Z", "2024-02-29x12:00:00"],
    ),
    ("duration", ["P1D", "PT1H30M", "P1Y2M3DT4H5M6S", "P2W", "PT0.5S", "-P1D"], ["P", "PT", "1D", "P1", "P1H", "PT1D"]),
    (
        "uuid",
        ["123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"],
        ["123e4567e89b12d3a456426614174000", "{123e4567-e89b-12d3-a456-426614174000}", "x"],
    ),
    ("email", ["a@b.example", "a.b+c@d.example", "ü@ü.example"], ["a", "a@", "@b", "a@b@c", "a b@c", "a@b.", "a@b\n"]),
    ("ipv4", ["127.0.0.1"], ["256.0.0.1", "127.1", "127.0.0.01", "١.0.0.1"]),
    ("ipv6", ["::1", "2001:db8::1"], ["1", "::1%eth0", "12345::"]),
    ("uri", ["https://a.example/b?c#d", "urn:a:b", "mailto:a@b"], ["a", "//a", "http://a b", "http://[1", ""]),
]


@pytest.mark.parametrize(("name", "good", "bad"), EXAMPLES)
def test_formats_that_are_checked(name, good, bad):
    compiled = compile_schema({"type": "string", "format": name})

    assert [each for each in good if not compiled.is_valid(each)] == []
    assert [each for each in bad if compiled.is_valid(each)] == []


@pytest.mark.parametrize("name", ["hostname", "regex", "iri", "json-pointer", "password", "binary", "made-up"])
def test_every_other_format_is_an_annotation(name):
    assert compile_schema({"format": name}).is_valid("(((")


def test_formats_are_about_texts_only():
    assert compile_schema({"format": "date"}).is_valid(7)


@pytest.mark.parametrize("name", [name for name, *_ in EXAMPLES])
@given(text=st.text(max_size=30) | st.datetimes().map(str) | st.uuids().map(str) | st.from_regex(r"P[0-9DTHMSYW]*"))
def test_a_refusal_is_always_explained_by_the_format(name, text):
    compiled = compile_schema({"format": name})
    if not compiled.is_valid(text):
        with pytest.raises(SchemaValidationError) as caught:
            compiled.validate(text)
        assert [each["constraint"] for each in caught.value.errors] == ["format"]


@given(st.dates())
def test_every_date_is_a_date(day):
    assert compile_schema({"format": "date"}).is_valid(day.isoformat())


@given(st.datetimes(timezones=st.none() | st.timezones()))
def test_every_moment_is_a_date_time(moment):
    offset = moment.utcoffset()
    if offset is None or offset.seconds % 60 == 0:
        assert compile_schema({"format": "date-time"}).is_valid(moment.isoformat())
