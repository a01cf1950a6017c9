import copy
from collections import UserDict, deque
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import NamedTuple

import pytest
from hypothesis import given
from pydantic import BaseModel

from apcore.redaction import (
    DEFAULT_SENSITIVE_KEYS,
    NO_SECRETS,
    REDACTED_VALUE,
    SensitiveValues,
    is_sensitive_key,
    is_sensitive_path,
    redact,
    redact_sensitive,
)
from apcore.schema import compile_schema
from tests.apcore.strategies import json_values

SCHEMA = {
    "properties": {
        "pin": {"x-sensitive": True},
        "user": {"properties": {"phrase": {"x-sensitive": True}}},
        "cards": {"items": {"properties": {"number": {"x-sensitive": True}}}},
    }
}


@pytest.mark.req("R-10.6-02", "R-10.6-04", "R-10.6-06", "R-10.6-08")
def test_marked_values_are_replaced_in_a_deep_copy():
    data = {"pin": 1234, "user": {"phrase": "x"}, "cards": [{"number": "4", "name": "a"}], "other": {"deep": [1]}}
    original = copy.deepcopy(data)

    redacted = redact_sensitive(data, SCHEMA)

    assert redacted == {
        "pin": "***REDACTED***",
        "user": {"phrase": "***REDACTED***"},
        "cards": [{"number": "***REDACTED***", "name": "a"}],
        "other": {"deep": [1]},
    }
    assert data == original
    assert redacted["other"] is not data["other"]
    assert redacted["other"]["deep"] is not data["other"]["deep"]


@pytest.mark.req("R-10.6-03")
def test_null_and_missing_values_stay():
    assert redact_sensitive({"pin": None}, SCHEMA) == {"pin": None}
    assert redact_sensitive({}, SCHEMA) == {}


@pytest.mark.parametrize(
    "key",
    [
        "password",
        "PASSWORD",
        "api_key",
        "api-key",
        "X-Api-Key",
        "apiKey",
        "db.password",
        "userPassword",
        "access_token",
    ],
)
def test_names_of_secrets(key):
    assert is_sensitive_key(key)
    assert redact({"a": [{key: "x"}]}) == {"a": [{key: REDACTED_VALUE}]}


@pytest.mark.parametrize("key", ["max_tokens", "passwordless", "secretary", "key", "", "password.hint", "tokenizer"])
def test_names_of_no_secrets(key):
    assert not is_sensitive_key(key)
    assert redact({key: "x"}) == {key: "x"}


def test_keys_can_be_others():
    assert redact({"iban": "x", "password": "y"}, keys={"IBAN"}) == {"iban": REDACTED_VALUE, "password": "y"}
    assert redact({"password": "y"}, keys=()) == {"password": "y"}


def test_marks_and_keys_work_together():
    assert redact({"pin": 1, "token": "x", "n": 2}, SCHEMA) == {"pin": REDACTED_VALUE, "token": REDACTED_VALUE, "n": 2}


def test_values_of_secret_keys_are_hidden_whatever_they_are():
    assert redact({"secret": {"a": 1}, "token": [1], "cookie": None}) == {
        "secret": REDACTED_VALUE,
        "token": REDACTED_VALUE,
        "cookie": None,
    }


def test_only_what_changes_is_copied():
    data = {"left": {"a": [1, 2]}, "right": {"password": "x"}}

    redacted = redact(data)

    assert redacted["left"] is data["left"]
    assert data["right"] == {"password": "x"}
    assert redact(redacted["left"]) is redacted["left"]


def test_keys_that_are_no_texts_are_left_alone():
    assert redact({1: {2: "x"}}) == {1: {2: "x"}}


@given(json_values)
def test_redacting_twice_changes_nothing_more(value):
    once = redact(value)
    assert redact(once) == once


@given(json_values)
def test_no_secret_key_keeps_a_value(value):
    def check(part):
        if isinstance(part, dict):
            for key, each in part.items():
                assert not is_sensitive_key(key) or each in (None, REDACTED_VALUE)
                check(each)
        elif isinstance(part, list):
            for each in part:
                check(each)

    check(redact(dict.fromkeys(sorted(DEFAULT_SENSITIVE_KEYS)[:3], value) | {"plain": value}))


@pytest.mark.parametrize(
    ("pair", "shown"),
    [
        ({"key": "db.password", "value": "hunter2"}, {"key": "db.password", "value": REDACTED_VALUE}),
        ({"name": "Authorization", "value": ["Bearer x"]}, {"name": "Authorization", "value": REDACTED_VALUE}),
        (
            {"key": "db.password", "old_value": {"a": 1}, "new_value": None},
            {"key": "db.password", "old_value": REDACTED_VALUE, "new_value": None},
        ),
        ({"key": "db.host", "value": "localhost"}, {"key": "db.host", "value": "localhost"}),
        ({"key": 7, "value": "x"}, {"key": 7, "value": "x"}),
    ],
)
def test_a_pair_whose_first_part_means_a_secret_hides_its_second(pair, shown):
    assert redact([pair]) == [shown]
    assert redact_sensitive(pair, {}) == pair  # by schema alone nothing is marked


class Row(NamedTuple):
    name: str
    password: str


@dataclass
class Account:
    name: str
    password: str


class Model(BaseModel):
    name: str
    password: str


class Opaque:
    def __repr__(self) -> str:
        return "Opaque(password='hunter2')"


class Silent:
    def __str__(self) -> str:
        raise RuntimeError


ADA = {"name": "Ada", "password": REDACTED_VALUE}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (MappingProxyType({"name": "Ada", "password": "hunter2"}), ADA),
        (UserDict({"name": "Ada", "password": "hunter2"}), ADA),
        (Row("Ada", "hunter2"), ADA),
        (Account("Ada", "hunter2"), ADA),
        (Model(name="Ada", password="hunter2"), ADA),
        (deque([{"token": "hunter2"}]), [{"token": REDACTED_VALUE}]),
        ({"postgres://ada:hunter2@db/shop"}, [f"postgres://{REDACTED_VALUE}@db/shop"]),
        (b"postgres://ada:hunter2@db/shop", f"postgres://{REDACTED_VALUE}@db/shop"),
        (bytearray(b"password=hunter2"), f"password={REDACTED_VALUE}"),
        ({b"password": "hunter2"}, {b"password": REDACTED_VALUE}),
        ({"key": "password", b"value": "hunter2"}, {"key": "password", b"value": REDACTED_VALUE}),
        ({"postgres://ada:hunter2@db/shop": 1}, {f"postgres://{REDACTED_VALUE}@db/shop": 1}),
        ([["Authorization", "hunter2"], ["Accept", "*/*"]], [["Authorization", REDACTED_VALUE], ["Accept", "*/*"]]),
        (ValueError("no user for password=hunter2"), f"no user for password={REDACTED_VALUE}"),
        (Opaque(), f"Opaque(password={REDACTED_VALUE})"),
    ],
)
def test_secrets_are_found_in_whatever_holds_them(value, shown):
    assert redact({"part": [value]}) == {"part": [shown]}


@pytest.mark.parametrize(
    "value",
    [Row("Ada", ""), {"Ada"}, b"Ada", deque(["Ada"]), date(2026, 12, 1), ValueError("Ada"), Silent(), ["token", "x"]],
)
def test_what_holds_none_is_the_same_object_of_whatever_kind(value):
    assert redact([value], keys={"nothing"})[0] is value


def test_nothing_is_fetched_to_look_into_it():
    class Query:
        def __iter__(self):
            pytest.fail("fetched")

        __str__ = __iter__

    query = Query()
    assert redact({"rows": query})["rows"] is query
    assert SensitiveValues({"password": "hunter2"}).hide([query]) == [query]


def endless() -> dict:
    value: dict = {}
    value["a"] = value["b"] = value
    return value


def deep() -> list:
    value: list = []
    for _ in range(100_000):
        value = [value]
    return value


@pytest.mark.parametrize("value", [endless(), deep()])
def test_what_cannot_be_looked_through_is_hidden_and_its_neighbours_are_not(value):
    data = {"part": value, "name": "Ada", "password": "hunter2"}
    assert redact(data) == {"part": REDACTED_VALUE, "name": "Ada", "password": REDACTED_VALUE}
    assert redact([value]) == REDACTED_VALUE
    secrets = SensitiveValues({"token": value, "password": "hunter2"})
    assert secrets.hide({"part": value, "a": "hunter2"}) == {"part": REDACTED_VALUE, "a": REDACTED_VALUE}


class TestSensitiveValues:
    INPUTS = {"pin": 123456, "user": {"phrase": "open sesame", "name": "ali"}, "api_token": ["tok-1", "tok-2"]}

    @pytest.fixture
    def secrets(self) -> SensitiveValues:
        return SensitiveValues(self.INPUTS, SCHEMA)

    @pytest.mark.parametrize(
        ("value", "shown"),
        [
            ("the phrase is open sesame!", "the phrase is ***REDACTED***!"),
            ({"a": ["open sesame", {"b": 123456}]}, {"a": [REDACTED_VALUE, {"b": REDACTED_VALUE}]}),
            ("call 123456 with tok-2", "call ***REDACTED*** with ***REDACTED***"),
            ("Update user: phrase nothing → open ses…", "Update user: phrase nothing → ***REDACTED***…"),
            (
                {"name": "ali", "n": 12345, "on": True, "none": None},
                {"name": "ali", "n": 12345, "on": True, "none": None},
            ),
        ],
    )
    def test_they_are_hidden_wherever_they_turn_up(self, secrets, value, shown):
        assert secrets.hide(value) == shown

    def test_also_where_they_were_put_on_one_line_or_into_json(self):
        secrets = SensitiveValues({"password": 'two\nlines "quoted"'})
        assert secrets.hide('is two lines "quoted"') == "is ***REDACTED***"
        assert secrets.hide('{"p":"two\\nlines \\"quoted\\""}') == '{"p":"***REDACTED***"}'

    @pytest.mark.parametrize(
        ("value", "shown"),
        [
            (Account("open sesame", "x"), {"name": REDACTED_VALUE, "password": "x"}),
            ({123456}, [REDACTED_VALUE]),
            (bytearray(b"open sesame!"), f"{REDACTED_VALUE}!"),
            (MappingProxyType({"a": "tok-1"}), {"a": REDACTED_VALUE}),
            (ValueError("open sesame"), REDACTED_VALUE),
        ],
    )
    def test_they_are_hidden_in_whatever_holds_them(self, secrets, value, shown):
        assert secrets.hide([value]) == [shown]

    def test_they_are_found_in_whatever_holds_them(self):
        secrets = SensitiveValues({"password": b"hunter2", "account": Account("Ada", "open sesame"), "pin": 1}, SCHEMA)
        assert secrets.hide("hunter2, Ada, open sesame") == f"{REDACTED_VALUE}, Ada, {REDACTED_VALUE}"

    def test_what_is_short_hides_nothing(self):
        secrets = SensitiveValues({"password": "a", "token": 7, "secret": True, "pwd": None})
        assert not secrets
        assert secrets.hide(["a", 7, True, None]) == ["a", 7, True, None]

    def test_without_any_the_value_is_the_same_object(self):
        value = {"a": [1]}
        assert NO_SECRETS.hide(value) is value
        assert SensitiveValues({"name": "ali baba"}, SCHEMA).hide(value) is value

    @given(json_values)
    def test_everything_below_a_sensitive_key_is_known(self, value):
        assert SensitiveValues({"password": {"inside": [value, "needle"]}}).hide("a needle") == "a ***REDACTED***"


def test_inputs_without_secrets_have_none_and_those_with_a_mark_or_a_name_have_theirs() -> None:
    schema = {"type": "object", "properties": {"pin": {"type": "string", "x-sensitive": True}}}
    mask = compile_schema(schema).mask
    assert SensitiveValues.of({"name": "Ada", "note": None}, mask) is NO_SECRETS
    assert SensitiveValues.of({"pin": "48213"}, mask).hide("PIN 48213") == "PIN ***REDACTED***"
    assert SensitiveValues.of({"user": {"password": "hunter22"}}, mask).hide(["hunter22"]) == ["***REDACTED***"]


@pytest.mark.parametrize("path", ["db.password", "secret.parts.first", "api.key", "a.private.key", "token"])
def test_a_path_leads_to_a_secret_by_any_part_of_it(path):
    assert is_sensitive_path(path)
    assert redact({"key": path, "value": "hunter2"}) == {"key": path, "value": REDACTED_VALUE}


@pytest.mark.parametrize("path", ["executor.default_timeout", "max.tokens", "a.key", "", ".", "The token. It is long"])
def test_other_paths_do_not(path):
    assert not is_sensitive_path(path)
    assert redact({"name": path, "value": 5}) == {"name": path, "value": 5}
