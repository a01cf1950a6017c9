"""A runtime with the modules of the stage, and the people on it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.dispatch import Signal
from kombu import pools

from django_apcore.models import ApprovalRequest
from django_apcore.runtime import Runtime
from django_apcore.testing import allow_all, override_runtime
from project.celery import app as celery
from tests.django_apcore.stage import MODULES, ask, make_user


@pytest.fixture
def runtime(db: None) -> Iterator[Runtime]:
    with override_runtime(modules=MODULES, installed=False, acl=allow_all()) as built:
        yield built


@pytest.fixture
def requester(db: None) -> User:
    return make_user("rita")


@pytest.fixture
def approver(db: None) -> User:
    return make_user("adam", decides=True)


@pytest.fixture
def other_approver(db: None) -> User:
    return make_user("olga", decides=True)


@pytest.fixture
def pending(runtime: Runtime, requester: User) -> ApprovalRequest:
    """A request with a planned effect, which is complete also inside the transaction of a test."""
    return ask(runtime, requester, "test.groups.plan", name="new")


@pytest.fixture
def signals() -> Callable[[Signal], AbstractContextManager[list[dict[str, Any]]]]:
    """Collect what a signal says while the block runs."""

    @contextmanager
    def collecting(signal: Signal) -> Iterator[list[dict[str, Any]]]:
        heard: list[dict[str, Any]] = []

        def hear(**news: Any) -> None:
            heard.append(news)

        signal.connect(hear)
        try:
            yield heard
        finally:
            signal.disconnect(hear)

    return collecting


@pytest.fixture
def queue() -> Iterator[Callable[[], list[Any]]]:
    """Celery with a broker in memory; call it for the messages that were sent since."""
    with _broker("memory://"):

        def messages() -> list[Any]:
            with celery.connection_for_read() as connection, connection.SimpleQueue("celery") as simple:
                return [simple.get_nowait() for _ in range(simple.qsize())]

        messages()
        yield messages


@pytest.fixture
def broken_broker() -> Iterator[None]:
    """Celery with a broker that nobody listens at."""
    with _broker("redis://127.0.0.1:1/0"):
        yield


@contextmanager
def _broker(url: str) -> Iterator[None]:
    names = ("broker_url", "broker_transport_options", "broker_connection_timeout")
    before = {name: celery.conf[name] for name in names}
    celery.conf.update(broker_url=url, broker_transport_options={}, broker_connection_timeout=0.1)
    _forget_connections()
    try:
        yield
    finally:
        celery.conf.update(**before)
        _forget_connections()


def _forget_connections() -> None:
    pools.reset()
    celery._pool = None
    celery.amqp._producer_pool = None
