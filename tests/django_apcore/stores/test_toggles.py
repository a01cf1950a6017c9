"""The toggles of the database as the executor sees them."""

from collections.abc import Iterator

import pytest
from asgiref.sync import async_to_sync

from apcore.errors import ModuleDisabledError
from django_apcore import services
from django_apcore.models import Toggle
from django_apcore.runtime import Runtime
from django_apcore.testing import allow_all, override_runtime
from tests.django_apcore.stage import MODULES


@pytest.fixture
def runtime(db: None) -> Iterator[Runtime]:
    with override_runtime(modules=MODULES, installed=False, acl=allow_all()) as built:
        yield built


def test_a_module_is_on_until_it_is_switched_off(runtime: Runtime) -> None:
    assert runtime.executor.call("test.plain.echo", {"text": "a"})
    services.toggle("test.plain.echo", enabled=False, actor=None)
    with pytest.raises(ModuleDisabledError):
        runtime.executor.call("test.plain.echo", {"text": "a"})
    services.toggle("test.plain.echo", enabled=True, actor=None)
    assert runtime.executor.call("test.plain.echo", {"text": "a"})


def test_setting_one_writes_to_the_database(runtime: Runtime) -> None:
    runtime.toggles.set("test.plain.echo", False)
    assert not Toggle.objects.get(module_id="test.plain.echo").enabled
    assert not runtime.toggles.is_enabled("test.plain.echo")


@pytest.mark.django_db(transaction=True, databases=["default", "other"])
def test_asynchronous_callers_get_fresh_toggles_too(runtime: Runtime) -> None:
    services.toggle("test.plain.echo", enabled=False, actor=None)
    with pytest.raises(ModuleDisabledError):
        async_to_sync(runtime.executor.call_async)("test.plain.echo", {"text": "a"})
