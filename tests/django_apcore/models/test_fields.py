"""JSON that every database keeps and returns unchanged."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apcore.schema import canonical_json
from django_apcore.models import ACLRule
from django_apcore.models.fields import storable

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ("a\0b", "a\N{REPLACEMENT CHARACTER}b"),
        ("\ud800", "\N{REPLACEMENT CHARACTER}"),
        ({"\0": [("\0",)]}, {"\N{REPLACEMENT CHARACTER}": [["\N{REPLACEMENT CHARACTER}"]]}),
        (1e300, "1e+300"),
        (-0.0, 0),
        (2.0, 2),
        (0.1, 0.1),
        (True, True),
        (None, None),
    ],
)
def test_what_a_database_would_refuse_or_change_is_changed_before(value: Any, stored: Any) -> None:
    assert storable(value) == stored
    assert canonical_json(storable(value)) == canonical_json(stored)


@given(JSON)
def test_once_is_enough(value: Any) -> None:
    assert canonical_json(storable(storable(value))) == canonical_json(storable(value))


@pytest.mark.django_db
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=st.dictionaries(st.text(), JSON, max_size=3))
def test_what_comes_back_has_the_same_canonical_form(value: dict[str, Any]) -> None:
    row = ACLRule.objects.create(effect="allow", conditions=value)
    assert canonical_json(ACLRule.objects.get(pk=row.pk).conditions) == canonical_json(storable(value))
