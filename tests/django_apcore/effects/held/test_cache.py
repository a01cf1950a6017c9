"""Caches: a run sees what it has written, and nobody else does before the commit."""

from collections.abc import Callable, Iterator
from contextvars import Context
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.cache import cache, caches
from django.core.cache.backends.locmem import LocMemCache
from django.core.management import call_command
from django.db import connection, transaction
from django.test import override_settings

from tests.django_apcore.effects.runs import execute, preview
from tests.matrix.models import Tag

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")

Act = Callable[[], Any]


@pytest.fixture(params=["locmem", "redis", "files"])
def stored(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[None]:
    """Some values, in caches of each kind."""
    name = f"apcore-tests-{tmp_path.name}"
    backends = {"locmem": "locmem.LocMemCache", "redis": "redis.RedisCache", "files": "filebased.FileBasedCache"}
    location = {"locmem": name, "files": str(tmp_path)}.get(request.param) or request.getfixturevalue("redis_url")
    backend = f"django.core.cache.backends.{backends[request.param]}"
    settings = {"BACKEND": backend, "LOCATION": location, "KEY_PREFIX": name}
    with override_settings(CACHES={"default": settings, "second": {**settings, "KEY_PREFIX": f"{name}-2"}}):
        caches["second"].set("k", "second")
        cache.set_many({"k": "was", "n": 1})
        yield
        cache.delete_many(["k", "n", "new", "other"])
        caches["second"].delete_many(["k", "new"])
        caches.close_all()


def values() -> dict[str, Any]:
    return cache.get_many(["k", "n", "new", "other"])


async def set_later() -> Any:
    await cache.aset("k", "now")
    return await cache.aget("k")


WAYS: dict[str, tuple[Act, Any, dict[str, Any]]] = {
    "set": (lambda: (cache.set("k", "now"), cache.get("k")), (None, "now"), {"k": "now", "n": 1}),
    "set nothing": (lambda: (cache.set("k", None), cache.get("k", "?")), (None, None), {"k": None, "n": 1}),
    "set for no time": (lambda: (cache.set("k", "now", 0), cache.get("k", "?")), (None, "?"), {"n": 1}),
    "delete": (lambda: (cache.delete("k"), cache.get("k", "?"), "k" in cache), (True, "?", False), {"n": 1}),
    "delete what is not there": (lambda: cache.delete("new"), False, {"k": "was", "n": 1}),
    "add": (lambda: (cache.add("new", 5), cache.get("new")), (True, 5), {"k": "was", "n": 1, "new": 5}),
    "add what is there": (lambda: (cache.add("k", 5), cache.get("k")), (False, "was"), {"k": "was", "n": 1}),
    "incr": (lambda: (cache.incr("n", 2), cache.decr("n"), cache.get("n")), (3, 2, 2), {"k": "was", "n": 2}),
    "touch": (lambda: (cache.touch("k", 60), cache.touch("new", 60)), (True, False), {"k": "was", "n": 1}),
    "get or set": (
        lambda: (cache.get_or_set("k", "x"), cache.get_or_set("new", lambda: "made")),
        ("was", "made"),
        {"k": "was", "n": 1, "new": "made"},
    ),
    "many": (
        lambda: (cache.set_many({"k": 1, "new": 2}), cache.delete_many(["n"]), values()),
        ([], None, {"k": 1, "new": 2}),
        {"k": 1, "new": 2},
    ),
    "clear and set": (lambda: (cache.clear(), cache.set("new", 1), values())[2], {"new": 1}, {"new": 1}),
    "versions": (
        lambda: (cache.set("k", "v2", version=2), cache.get("k"), cache.get("k", version=2), cache.delete("k", 2)),
        (None, "was", "v2", True),
        {"k": "was", "n": 1},
    ),
    "asynchronously": (async_to_sync(set_later), "now", {"k": "now", "n": 1}),
    "in two caches": (
        lambda: (cache.set("new", 1), caches["second"].set("new", 2), cache.get("new"), caches["second"].get("new")),
        (None, None, 1, 2),
        {"k": "was", "n": 1, "new": 1},
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_run_sees_what_it_wrote_and_nobody_else_before_the_commit(way: str, stored: None) -> None:
    write, seen, after = WAYS[way]
    before = values()
    found: list[Any] = []

    def act() -> None:
        found.append(write())

    caches.close_all()  # whatever has to be connected is connected by the run
    record = preview(act)
    assert values() == before
    execute(act)
    assert values() == after
    assert found == [seen, seen]
    assert record.complete
    assert record.total == 0
    assert ("cache" in record.unwatched) == (way != "add what is there")


def test_reading_leaves_no_trace(stored: None) -> None:
    record = preview(lambda: (cache.get("k"), cache.get_many(["k", "n"]), cache.get("new"), "k" in cache))
    assert record.complete
    assert "cache" not in record.unwatched


def test_what_is_read_cannot_be_changed_by_the_run() -> None:
    def write() -> None:
        cache.set("list", [1])
        cache.get("list").append(2)
        assert cache.get("list") == [1]

    assert preview(write).complete


def test_a_run_that_fails_writes_nothing(stored: None) -> None:
    with pytest.raises(ZeroDivisionError):
        execute(lambda: (cache.set("k", "now"), 1 / 0))
    assert cache.get("k") == "was"


def test_an_outer_transaction_is_waited_for(stored: None) -> None:
    with transaction.atomic():
        execute(lambda: cache.set("k", "now"))
        assert cache.get("k") == "was"
    assert cache.get("k") == "now"
    with transaction.atomic():
        execute(lambda: cache.set("k", "never"))
        transaction.set_rollback(True)
    assert cache.get("k") == "now"


def test_callbacks_after_the_commit_come_after_what_was_written_before_them() -> None:
    def write() -> None:
        cache.set("k", "by the run")
        transaction.on_commit(lambda: cache.set("k", "by the callback"))

    execute(write)
    assert cache.get("k") == "by the callback"
    cache.delete("k")


def test_a_cache_that_is_gone_does_not_undo_the_commit(caplog: pytest.LogCaptureFixture) -> None:
    settings = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}
    with override_settings(CACHES={"default": settings}):
        execute(lambda: (cache.set("k", "now"), Tag.objects.create(name="made")))
        caches.close_all()
    assert Tag.objects.filter(name="made").exists()
    assert "cache" in caplog.text


def test_outside_of_runs_caches_are_as_ever(stored: None) -> None:
    cache.set("k", "now")
    assert cache.get("k") == "now"
    assert cache.incr("n") == 2


# -- what processes agree on ------------------------------------------------------------------------------------------


def test_a_lock_of_a_run_that_is_committed_is_one_for_all(stored: None) -> None:
    def work() -> None:
        assert cache.add("new", "mine")
        assert not elsewhere(lambda: cache.add("new", "theirs"))
        assert cache.incr("n", 5) == 6
        assert elsewhere(lambda: cache.incr("n")) == 7
        cache.delete("new")
        assert elsewhere(lambda: cache.get("new")) is None

    execute(work)
    assert values() == {"k": "was", "n": 7}


def test_a_lock_is_released_where_the_run_fails(stored: None) -> None:
    def work() -> None:
        assert cache.add("new", "mine")
        try:
            raise ZeroDivisionError
        finally:
            cache.delete("new")

    with pytest.raises(ZeroDivisionError):
        execute(work)
    assert cache.get("new") is None


def test_a_preview_takes_no_lock_and_respects_those_of_others(stored: None) -> None:
    def work() -> None:
        assert cache.add("new", "mine")
        assert not cache.add("new", "mine")
        assert not cache.add("k", "mine")
        assert elsewhere(lambda: cache.get("new")) is None

    assert preview(work).complete
    assert cache.get("new") is None


def test_a_key_that_the_run_has_written_is_its_own(stored: None) -> None:
    def work() -> None:
        cache.set("n", 10)
        assert cache.incr("n") == 11
        cache.delete("k")
        assert cache.add("k", "again")
        assert elsewhere(values) == {"k": "was", "n": 1}

    execute(work)
    assert values() == {"k": "again", "n": 11}


class LockingCache(LocMemCache):
    """Knows an option that Django does not."""

    def set(self, key: Any, value: Any, timeout: Any = 300, version: Any = None, nx: bool = False) -> Any:
        return self.add(key, value, timeout, version) if nx else super().set(key, value, timeout, version)


def test_an_option_that_only_the_backend_knows_is_its_own_affair() -> None:
    def work() -> None:
        assert cache.set("lock", "mine", nx=True)
        assert not cache.set("lock", "mine", nx=True)
        others.append(elsewhere(lambda: cache.get("lock")))

    others: list[Any] = []
    with override_settings(CACHES={"default": {"BACKEND": f"{__name__}.LockingCache", "LOCATION": "locking"}}):
        preview(work)
        execute(work)
        cache.clear()
    assert others == [None, "mine"]


def elsewhere(act: Act) -> Any:
    """What another process would see."""
    return Context().run(act)


@pytest.fixture
def table() -> Iterator[None]:
    """A cache in a table of the database, with a value that has expired."""
    backend = "django.core.cache.backends.db.DatabaseCache"
    with override_settings(CACHES={"default": {"BACKEND": backend, "LOCATION": "apcore_test_cache"}}):
        call_command("createcachetable", verbosity=0)
        cache.set("k", "was")
        cache.set("old", "was", -1)
        yield
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE apcore_test_cache")


def rows() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM apcore_test_cache")
        return int(cursor.fetchone()[0])


def test_a_cache_in_a_table_is_read_as_any_other(table: None) -> None:
    def read() -> None:
        assert cache.get_many(["k", "old", "new"]) == {"k": "was"}
        assert not cache.has_key("old")

    assert rows() == 2
    assert preview(read).complete
    assert execute(read).complete
    assert rows() == 2
    read()
    assert rows() == 1


def test_a_cache_in_a_table_is_written_after_the_commit_whatever_it_is(table: None) -> None:
    def write() -> None:
        assert cache.add("new", 1)
        assert not cache.add("new", 2)
        assert cache.incr("new") == 2
        cache.set("k", "now")
        cache.delete("old")
        assert cache.get_or_set("other", "made") == "made"

    record = preview(write)
    assert record.complete
    assert values() == {"k": "was"}
    assert execute(write).digest == record.digest
    assert values() == {"k": "now", "new": 2, "other": "made"}
