"""The page of health: real checks, for who may see them."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from django_apcore.models import OutboxMessage

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")
HEALTH = "/admin/django_apcore/heartbeat/"


def test_every_check_has_a_row_and_the_worst_comes_first(client: Client) -> None:
    watcher = User.objects.create_user("watcher", is_staff=True)
    watcher.user_permissions.add(Permission.objects.get(codename="view_heartbeat"))
    client.force_login(watcher)
    OutboxMessage.objects.create(kind="mail", payload_encrypted="", idempotency_key="m", abandoned_at=timezone.now())

    answer = client.get(HEALTH)

    rows = answer.context["rows"]
    assert {"database", "broker", "migrations", "workers", "queue", "approvals", "outbox", "audit"} <= {
        name for name, *_ in rows
    }
    tones = [tone for _, tone, *_ in rows]
    assert tones == sorted(tones, key=["bad", "warn", "good"].index)
    assert "given up" in next(sentence for name, *_, sentence in rows if name == "outbox")
    assert "All is well" not in answer.content.decode()


def test_others_see_nothing_of_it(client: Client) -> None:
    client.force_login(User.objects.create_user("clerk", is_staff=True))

    assert client.get(HEALTH).status_code == 403
