import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.schema import canonical_json, content_hash
from tests.apcore.strategies import json_values


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")], {"a": {1}}, b"x", object()])
def test_what_is_no_json_is_refused(value):
    with pytest.raises((TypeError, ValueError)):
        canonical_json(value)


def test_circles_are_refused():
    circle: list = []
    circle.append(circle)
    with pytest.raises(ValueError, match="Circular"):
        canonical_json(circle)


def test_form():
    assert canonical_json({"b": [1, None, True], "a": "ü"}) == '{"a":"ü","b":[1,null,true]}'
    assert content_hash({"a": 1}) == hashlib.sha256(b'{"a":1}').hexdigest()


def test_lone_surrogates_can_be_hashed():
    assert len(content_hash(json.loads('"\\ud800"'))) == 64


@given(json_values)
def test_text_means_the_value(value):
    assert json.loads(canonical_json(value)) == value


@given(st.dictionaries(st.text(), json_values, min_size=2))
def test_order_of_keys_makes_no_difference(value):
    turned = dict(reversed(value.items()))
    assert canonical_json(turned) == canonical_json(value)
    assert content_hash(turned) == content_hash(value)


@given(json_values, json_values)
def test_different_values_have_different_texts(one, other):
    if canonical_json(one) == canonical_json(other):
        assert one == other
