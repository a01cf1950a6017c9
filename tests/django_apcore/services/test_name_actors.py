"""Naming the actors of audit entries."""

import pytest
from django.contrib.auth.models import User

from apcore import Identity
from django_apcore import services
from tests.django_apcore.stage import make_user

pytestmark = pytest.mark.django_db


def actor(of: User | Identity | None) -> str:
    entry = services.append("toggle.disabled", subject="module:x.y", actor=of)
    return services.name_actors([entry])[0].actor


def test_users_have_their_names_and_keep_their_ids() -> None:
    rita = make_user("rita")
    robot = User.objects.create_user("robot")
    assert actor(rita) == f"rita (user {rita.pk})"
    assert actor(robot) == f"robot (service {robot.pk})"


def test_who_is_no_user_keeps_the_id_alone() -> None:
    rita = make_user("rita")
    assert actor(None) == "system"
    assert actor(Identity("spiffe://shop/agent", "agent")) == "agent spiffe://shop/agent"
    assert actor(Identity(str(rita.pk), "agent")) == f"agent {rita.pk}"
    assert actor(Identity("0", "user")) == "user 0"
    assert actor(Identity("9" * 30, "user")) == "user " + "9" * 30
