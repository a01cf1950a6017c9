from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.redaction import REDACTED_VALUE, hide_credentials, redact, redact_text
from tests.apcore.strategies import json_values

CREDENTIALS = [
    ("Bearer {}", "abcDEF123.ghi-jkl"),
    ("basic {}", "dGVzdDp0ZXN0ZXI="),
    ("postgresql://{}@db.example.org/shop", "shop:p@ss:word"),
    ("https://example.org/pay?amount=3&api_key={}&x=1", "k-123456"),
    ("https://example.org/?userToken={}", "abc"),
    ("see {}", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"),
    ("key {}", "sk-" + "a1" * 12),
    ("key {}", "ghp_" + "A1b2" * 9),
    ("key {}", "AKIAIOSFODNN7EXAMPLE"),
    ("{}", "-----BEGIN RSA PRIVATE KEY-----\nMIIB\nsecret\n-----END RSA PRIVATE KEY-----"),
    ("{}", "-----BEGIN PRIVATE KEY-----\ncut off"),
    ("postgresql://shop:{}@db.example.org/shop", "pass/word"),
    ("https://example.org/done#access_token={}", "abc"),
    ("password={}&user=ada", "hunter2"),
    ('{{"password":"{}","user":"ada"}}', "a, b"),
    ('in JSON in JSON: {{\\"api_key\\": \\"{}\\"}}', "k-1"),
    ("Account(name='ada', password='{}')", "two words"),
    ("password=b'{}'", "hunter2"),
]
ASSIGNED = [
    ("password={}", "hunter2"),
    ("userPassword: {}", "hunter2"),
    ("PASSWORD = '{}'", "two words"),
    ('{{"token": "{}", "n": 1}}', "a, b; c"),
    ("X-Api-Key: {}", "k-1"),
    ("Authorization: Token {}", "0123456789abcdef"),
    ("Cookie: {}", "sessionid=abc; csrftoken=def"),
    ("client_secret={}&grant=x", "s3cr3t"),
    ("Failed for {{'db_password': '{}'}}", "x y"),
    ("{{'Authorization': ['{}']}}", "Token abc"),
    ('Cookie: a="b"; c={}', "sessionid"),
    ("cut off: {{'password': '{}", "hunter2"),
    ("token: ['{}', 'b']", "abc"),
    ("password = SecretStr('{}')", "hunter2"),
    ("mysql --db-password {} -h db", "hunter2"),
]


@pytest.mark.parametrize(("frame", "secret"), CREDENTIALS)
def test_what_looks_like_a_credential_is_hidden_in_data_and_in_messages(frame, secret):
    text = frame.format(secret)
    for hidden in (hide_credentials(text), redact_text(text), redact({"a": [text]})["a"][0]):
        assert secret not in hidden
        assert REDACTED_VALUE in hidden


@pytest.mark.parametrize(("frame", "secret"), ASSIGNED)
@pytest.mark.req("R-10.2-03")
def test_what_a_secret_name_is_set_to_is_hidden_in_messages(frame, secret):
    hidden = redact_text(frame.format(secret))
    assert not any(part in hidden for part in secret.split())
    assert REDACTED_VALUE in hidden


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Bearer of bad news",
        "A basic plan for everybody",
        "https://example.org/a?page=2&size=10",
        "http://example.org/@someone",
        "http://localhost:8000/users/ada@example.org",
        "http://[::1]:8000/ada@example.org",
        "max_tokens=5",
        "--max-tokens 5",
        "passwordless=yes, secretary: Ann",
        "2026-12-01T00:00:00 m.divide failed: MODULE_EXECUTE_ERROR",
        f"password={REDACTED_VALUE}",
    ],
)
def test_harmless_texts_are_the_same(text):
    assert redact_text(text) == text
    assert hide_credentials(text) is text


def test_names_can_be_others():
    assert redact_text("iban=PT50 password=x", {"iban"}) == f"iban={REDACTED_VALUE} password=x"
    assert hide_credentials("https://a.b/?iban=PT50", {"iban"}) == f"https://a.b/?iban={REDACTED_VALUE}"
    assert redact_text("password=x", ()) == "password=x"


@given(st.text(max_size=60))
def test_hiding_twice_hides_nothing_more(text):
    once = redact_text(text)
    assert redact_text(once) == once


UNITS = (
    *("a-", "a.", "password", "password ", 'password="', "authorization ", "eyJ-", "eyJaaaaa.", "a://b:", "?", "?a"),
    *("basic ", "bearer\t", "-----BEGIN ", "sk-", "xoxb-", "--", "--a ", "cookie:", "\\", "'", '"', "[", "password:["),
)


@pytest.mark.parametrize("unit", UNITS)
def test_a_text_that_begins_everywhere_and_ends_nowhere_is_looked_through_once(unit):
    # Patterns that start anew at each of these would need hours for it, and callers choose what is looked through.
    text = unit * (20_000 // len(unit)) + "="
    assert redact_text(redact_text(text)) == redact_text(text)


@given(json_values)
def test_whatever_holds_no_secret_is_the_same_object(value):
    redacted = redact({"kept": value, "password": "x"})
    assert redacted["kept"] is value or redacted["kept"] != value
    assert redacted["password"] == REDACTED_VALUE
    untouched = {"a": [1, {"b": ("c", None)}], "d": "text"}
    assert redact([untouched, value])[0] is untouched
    assert redact(untouched) is untouched
