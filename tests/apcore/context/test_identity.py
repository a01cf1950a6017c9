import json
from typing import Any

import pytest
from hypothesis import given

from apcore.context import Identity
from apcore.errors import InvalidInputError
from tests.apcore.strategies import identities


@given(identities)
def test_the_wire_form_round_trips_through_json(identity: Identity) -> None:
    assert Identity.from_dict(json.loads(json.dumps(identity.to_dict()))) == identity


@pytest.mark.req("R-5.7-06")
def test_defaults() -> None:
    identity = Identity("42")
    assert (identity.type, identity.roles, identity.attrs) == ("user", (), {})
    assert Identity.from_dict({"id": "42"}) == identity


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        *[("id", each) for each in ("", None, 42)],
        *[("type", each) for each in ("", None, 42)],
        # One role as text would become a role for each letter.
        *[("roles", each) for each in ("admin", None, 42, [5])],
        *[("attrs", each) for each in ("x", None, 42, [1])],
    ],
)
def test_a_field_of_another_type_is_refused_by_name(field: str, wrong: object) -> None:
    with pytest.raises(InvalidInputError, match=rf"Identity\.{field} must be"):
        Identity(**{"id": "ada", field: wrong})  # type: ignore[arg-type]  # what is wrong here


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (None, "an object"),
        ("x", "an object"),
        ({}, "id"),
        ({"id": "ada", "roles": "admin"}, "roles"),
        ({"id": "ada", "attrs": [1]}, "attrs"),
    ],
)
def test_what_is_no_written_identity_is_refused(data: Any, named: str) -> None:
    with pytest.raises(InvalidInputError, match=named):
        Identity.from_dict(data)


def test_roles_are_frozen_whatever_was_given() -> None:
    roles = ["a"]
    identity = Identity("1", roles=roles)  # type: ignore[arg-type]  # a list does as well
    roles.append("b")
    assert identity.roles == ("a",)
