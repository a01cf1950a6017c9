"""Encryption and keyed digests."""

from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from django_apcore.exceptions import UndecryptableError
from django_apcore.secrets import decrypt, digest_matches, encrypt, keyed_digest, rotate

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(JSON)
def test_what_is_encrypted_comes_back(value: Any) -> None:
    text = encrypt(value)
    assert text.isascii()
    assert decrypt(text) == value


def test_a_lone_surrogate_comes_back() -> None:
    assert decrypt(encrypt("\ud800")) == "\ud800"


def test_equal_values_look_different() -> None:
    assert encrypt({"a": 1}) != encrypt({"a": 1})


@pytest.mark.parametrize("text", ["", "garbage", "gAAAA", "é"])
def test_anything_else_cannot_be_decrypted(text: str) -> None:
    for read in (decrypt, rotate):
        with pytest.raises(UndecryptableError):
            read(text)


def test_a_changed_text_cannot_be_decrypted() -> None:
    text = encrypt("secret")
    with pytest.raises(UndecryptableError):
        decrypt(text[:-4] + "AAAA")


def test_keys_can_be_rotated() -> None:
    old, new = (Fernet.generate_key().decode() for _ in range(2))
    with override_settings(APCORE={"ENCRYPTION_KEYS": [old]}):
        text = encrypt("secret")
    with override_settings(APCORE={"ENCRYPTION_KEYS": [new, old]}):
        assert decrypt(text) == "secret"
        again = rotate(text)
    with override_settings(APCORE={"ENCRYPTION_KEYS": [new]}):
        assert decrypt(again) == "secret"
        with pytest.raises(UndecryptableError):
            decrypt(text)


def test_keys_derived_from_the_secret_key_follow_its_fallbacks() -> None:
    with override_settings(SECRET_KEY="one"):
        text, digest = encrypt("secret"), keyed_digest("p", b"data")
    with override_settings(SECRET_KEY="two", SECRET_KEY_FALLBACKS=["one"]):
        assert decrypt(text) == "secret"
        assert digest_matches(digest, "p", b"data")
    with override_settings(SECRET_KEY="two", SECRET_KEY_FALLBACKS=[]):
        assert not digest_matches(digest, "p", b"data")
        with pytest.raises(UndecryptableError):
            decrypt(text)


def test_digests_depend_on_key_purpose_and_data() -> None:
    digest = keyed_digest("inputs", b"data")
    assert digest == keyed_digest("inputs", b"data")
    assert len(digest) == 64
    assert not digest_matches(digest, "other", b"data")
    assert not digest_matches(digest, "inputs", b"other")
    assert not digest_matches("", "inputs", b"data")
