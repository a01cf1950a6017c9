import json

import pytest
from hypothesis import given

from apcore.context import Identity
from tests.apcore.strategies import identities


@given(identities)
def test_the_wire_form_round_trips_through_json(identity: Identity) -> None:
    assert Identity.from_dict(json.loads(json.dumps(identity.to_dict()))) == identity


@pytest.mark.req("R-5.7-06")
def test_defaults() -> None:
    identity = Identity("42")
    assert (identity.type, identity.roles, identity.attrs) == ("user", (), {})
    assert Identity.from_dict({"id": "42"}) == identity


@pytest.mark.parametrize("bad", ["", None, 42])
def test_an_identity_needs_a_text_id(bad: object) -> None:
    with pytest.raises(ValueError, match=r"Identity\.id"):
        Identity(bad)  # type: ignore[arg-type]


def test_roles_are_frozen_whatever_was_given() -> None:
    roles = ["a"]
    identity = Identity("1", roles=roles)  # type: ignore[arg-type]
    roles.append("b")
    assert identity.roles == ("a",)


def test_one_role_as_text_is_refused_instead_of_becoming_a_role_for_each_letter() -> None:
    with pytest.raises(ValueError, match="list"):
        Identity("ada", roles="admin")  # type: ignore[arg-type]
