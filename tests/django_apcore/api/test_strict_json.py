import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.errors import InvalidInputError
from django_apcore.api.strict_json import loads

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda children: st.lists(children, max_size=4) | st.dictionaries(TEXT, children, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b'{"a": 1}}', "line 1, column 9"),
        (b"\xff\xfe", "not UTF-8"),
        (b'\xef\xbb\xbf{"a": 1}', "not JSON"),
        (b'{"a": NaN}', "NaN is not JSON"),
        (b"[Infinity, -Infinity]", "Infinity is not JSON"),
        (b"[1e999]", "too large"),
        (b'{"cents": 5, "cents": 999999}', "'cents' occurs twice"),
        (b'{"a": {"b": 1, "b": 1}}', "'b' occurs twice"),
        (b"{" + b"".join(b'"%d":1,' % i for i in range(90_000)) + b'"z":1,"z":1}', "'z' occurs twice"),
        (b"[9223372036854775808]", "64 bits"),
        (b"[-9223372036854775809]", "64 bits"),
        (b"[" + b"9" * 100_000 + b"]", "64 bits"),
        (rb'["\u0000"]', "NUL"),
        (rb'{"\ud800": 1}', "unpaired surrogates"),
        (b"[" * 65 + b"]" * 65, "deeper than 64"),
        (b"[" * 200_000, "deeper than 64"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "deeper than 64"),
    ],
)
def test_what_is_ambiguous_or_cannot_be_kept_is_refused(body: bytes, words: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        loads(body, max_depth=64)
    assert words in refused.value.message
    assert len(refused.value.message) < 200


@pytest.mark.parametrize(
    "body", [b"[" * 64 + b"]" * 64, rb'["\ud83d\ude00"]', b"[9223372036854775807, 1e300, -0.0]", b"null"]
)
def test_the_limits_themselves_are_allowed(body: bytes) -> None:
    assert loads(body, max_depth=64) == json.loads(body)


@given(JSON)
def test_clean_json_is_read_as_it_stands(value: object) -> None:
    assert loads(json.dumps(value).encode(), max_depth=64) == value
