"""Who may decide."""

from types import SimpleNamespace

import pytest
from django.contrib.auth.models import Group, User

from django_apcore.permissions import REFUSALS, refusal
from tests.django_apcore.stage import make_user

pytestmark = pytest.mark.django_db


def asked_by(user: User | None) -> SimpleNamespace:
    return SimpleNamespace(requested_by_id=user.pk if user else None)


def test_the_permission_the_group_and_four_eyes() -> None:
    adam, rita, deciders = make_user("adam", decides=True), make_user("rita"), Group.objects.create(name="deciders")
    assert refusal(adam, asked_by(rita), None) is None
    assert refusal(adam, asked_by(None), None) is None
    assert refusal(rita, asked_by(adam), None) == "no_permission"
    assert refusal(adam, asked_by(adam), None) == "own_request"
    assert refusal(adam, asked_by(rita), deciders.pk) == "not_a_decider"
    adam.groups.add(deciders)
    assert refusal(adam, asked_by(rita), deciders.pk) is None


def test_superusers_belong_to_every_group_and_still_do_not_decide_alone() -> None:
    boss, deciders = make_user("boss", is_superuser=True), Group.objects.create(name="deciders")
    assert refusal(boss, asked_by(None), deciders.pk) is None
    assert refusal(boss, asked_by(boss), None) == "own_request"


def test_every_refusal_has_words() -> None:
    assert set(REFUSALS) == {"own_request", "no_permission", "not_a_decider"}
