import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.events.webhooks import SIGNATURE_HEADER, is_authentic, sign

NOW = 1_800_000_000


def headers(secret="s", body=b"{}", timestamp=NOW):
    return {SIGNATURE_HEADER: sign(secret, body, timestamp)}


def test_the_signature_is_an_hmac_of_time_and_body():
    expected = hmac.new(b"s", b"1800000000.{}", hashlib.sha256).hexdigest()
    assert sign("s", b"{}", NOW) == f"t=1800000000,v1={expected}"


@given(st.text(min_size=1), st.binary(), st.integers(0, 10**11))
def test_what_was_signed_is_authentic(secret, body, timestamp):
    assert is_authentic(secret, body, {"APCORE-signature": sign(secret, body, timestamp)}, now=timestamp)


@given(st.binary(), st.binary())
def test_another_body_is_not(body, other):
    assert is_authentic("s", other, headers(body=body), now=NOW) is (body == other)


@pytest.mark.parametrize("age", [301, -301, 10**6])
def test_neither_is_an_old_delivery_or_one_of_tomorrow(age):
    assert not is_authentic("s", b"{}", headers(), now=NOW + age)


def test_the_time_cannot_be_changed_without_the_secret():
    stale = headers(timestamp=NOW - 1000)
    forged = {SIGNATURE_HEADER: stale[SIGNATURE_HEADER].replace(str(NOW - 1000), str(NOW))}
    assert not is_authentic("s", b"{}", forged, now=NOW)


@pytest.mark.parametrize("value", ["", "v1=abc", "t=1", "t=x,v1=" + "0" * 64, "t=1,v1=0", "t=1,v1=" + "Z" * 64])
def test_a_header_of_another_form_is_no_signature(value):
    assert not is_authentic("s", b"{}", {SIGNATURE_HEADER: value}, now=1)


def test_a_delivery_without_the_header_is_not_authentic():
    assert not is_authentic("s", b"{}", {})


def test_while_a_secret_is_changed_both_fit():
    assert is_authentic(["new", "s"], b"{}", headers(), now=NOW)
    assert not is_authentic(["new"], b"{}", headers(), now=NOW)


@pytest.mark.parametrize("secrets", ["", [], [""]])
def test_an_empty_secret_authenticates_nothing(secrets):
    assert not is_authentic(secrets, b"{}", headers(secret=""), now=NOW)
