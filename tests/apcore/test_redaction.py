import copy

import pytest
from hypothesis import given

from apcore.redaction import DEFAULT_SENSITIVE_KEYS, REDACTED_VALUE, is_sensitive_key, redact, redact_sensitive
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
