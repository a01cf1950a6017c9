"""The port of overrides, by memory and by the database, and what a running process makes of them."""

import pytest

from apcore.config import Config
from apcore.system import MemoryOverridesStore, OverridesStore
from django_apcore import services
from django_apcore.models import AuditEntry, Override, Toggle
from django_apcore.stores import DatabaseOverridesStore, take_up_overrides

pytestmark = pytest.mark.django_db(databases=["default", "other"])


@pytest.fixture(params=[MemoryOverridesStore, DatabaseOverridesStore])
def store(request: pytest.FixtureRequest) -> OverridesStore:
    made: OverridesStore = request.param()
    return made


VALUES = [None, True, 0, 12, 0.5, "text", "", [1, {"a": None}], {"b": [2], "c": {"d": "é"}}]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_comes_back_as_it_was(store: OverridesStore, value: object) -> None:
    store.save("a.b", "before")
    store.save("a.b", value)
    assert store.load() == {"a.b": value}


def test_secrets_come_back_too(store: OverridesStore) -> None:
    store.save("db.password", "hunter2")
    store.save("db", {"token": "t0ken", "host": "h"})
    assert store.load() == {"db.password": "hunter2", "db": {"token": "t0ken", "host": "h"}}


def test_what_is_no_secret_any_more_leaves_no_cipher_text() -> None:
    services.override("db", {"token": "t0ken"}, actor=None)
    services.override("db", {"host": "h"}, actor=None)
    row = Override.objects.get()
    assert (row.is_secret, row.value, row.value_encrypted) == (False, {"host": "h"}, "")


def test_what_is_deleted_is_gone(store: OverridesStore) -> None:
    store.save("a.b", 1)
    store.delete("a.b")
    store.delete("a.b")
    assert store.load() == {}


@pytest.mark.req("R-6.7-16")
def test_toggles_are_kept_as_well(store: OverridesStore) -> None:
    store.save("toggles.test.plain.echo", False)
    assert store.load() == {"toggles.test.plain.echo": False}


@pytest.mark.req("R-6.7-16")
def test_the_table_of_toggles_is_the_only_truth_about_them() -> None:
    DatabaseOverridesStore().save("toggles.test.plain.echo", False)
    assert not Override.objects.exists()
    assert not Toggle.objects.get().enabled
    DatabaseOverridesStore().delete("toggles.test.plain.echo")
    assert Toggle.objects.get().enabled


def test_every_change_is_in_the_trail() -> None:
    services.override("a.b", 1, actor=None, told={"new_value": 1})
    assert services.drop_override("a.b", actor=None) is True
    assert services.drop_override("a.b", actor=None) is False
    entries = AuditEntry.objects.order_by("pk").values_list("kind", "subject")
    assert list(entries) == [("config.updated", "config:a.b"), ("config.restored", "config:a.b")]


def test_a_configuration_takes_up_what_is_stored_and_keeps_to_it() -> None:
    services.override("executor.default_timeout", 1234, actor=None)
    services.override("executor.max_call_depth", "no number", actor=None)
    config = Config.from_defaults()
    take_up_overrides(config)
    assert config.get("executor.default_timeout") == 1234
    assert config.get("executor.max_call_depth") == 32
    config.reload()
    assert config.get("executor.default_timeout") == 1234

    services.drop_override("executor.default_timeout", actor=None)
    take_up_overrides(config)
    assert config.get("executor.default_timeout") == 30_000
