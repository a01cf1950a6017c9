"""A real worker tells a real receiver what really happened."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from apcore.events.webhooks import is_authentic
from tests.apcore.events.webhooks.receivers import Receiver, receiver, status
from tests.django_apcore.races.conftest import Arena, Racer
from tests.django_apcore.races.test_workers import Start, broker, name, racer, start_worker, wait_until

__all__ = ["broker", "name", "racer", "start_worker"]  # fixtures

SECRET = "a secret for signatures"

_SUBSCRIBE = """
import sys, django
django.setup()
from django_apcore.models import WebhookSubscriber
from django_apcore.secrets import encrypt
_, name, url, secret = sys.argv
WebhookSubscriber.objects.create(
    name=name, url=url, secret_encrypted=encrypt(secret), types=["apcore.approval.*"]
)
"""
_FORGET = """
import sys, django
django.setup()
from django_apcore.models import WebhookSubscriber
WebhookSubscriber.objects.filter(name=sys.argv[1]).delete()
"""


@pytest.fixture
def there() -> Iterator[Receiver]:
    with receiver(status(503, 204)) as there:
        yield there


@pytest.fixture
def subscribed(arena: Arena, name: str, there: Receiver) -> Iterator[None]:
    def run(code: str, *arguments: str) -> None:
        subprocess.run([sys.executable, "-c", code, *arguments], env=arena.environment, check=True)

    run(_SUBSCRIBE, name, there.url, SECRET)
    yield
    run(_FORGET, name)


@pytest.fixture
def broker_allows(broker: dict[str, str]) -> None:
    broker["DJANGO_SETTINGS_MODULE"] = "tests.django_apcore.races.webhook_settings"


def test_a_worker_delivers_what_was_committed_elsewhere(
    broker_allows: None, racer: Racer, start_worker: Start, name: str, subscribed: None, there: Receiver
) -> None:
    request = racer.do("ask", name=name)
    racer.do("approve", request=request, user="adam")
    start_worker()

    def told() -> set[str]:
        return {each.headers["Apcore-Event-Type"].rpartition(".")[2] for each in there.deliveries}

    # the first delivery is answered with 503, and comes again
    wait_until(lambda: told() >= {"pending", "granted", "consumed"}, f"The worker told only of {told()}")
    for each in there.deliveries:
        assert is_authentic(SECRET, each.body, each.headers)
        assert json.loads(each.body)["data"]["approval_id"] == request
