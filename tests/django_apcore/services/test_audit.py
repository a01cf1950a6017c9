"""The audit trail: what is written, and that every way of touching it is found."""

import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.apps.registry import Apps
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.sql import emit_post_migrate_signal
from django.db import DatabaseError, connection, connections, transaction
from django.db.models.signals import post_migrate
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apcore import Identity
from django_apcore import services
from django_apcore.exceptions import AuditHeadMissing
from django_apcore.models import AuditChain, AuditEntry
from django_apcore.services._trail import GENESIS, content_hash
from django_apcore.services.audit import PARTITIONS, Event, append_all, make_heads, partition_of
from tests.django_apcore.trail import unprotected

pytestmark = pytest.mark.django_db(databases=["default", "other"])

SUBJECT = "approval:1"
PARTITION = partition_of(SUBJECT)


@pytest.fixture
def chain() -> list[AuditEntry]:
    return [services.append(f"kind.{number}", subject=SUBJECT, data={"number": number}) for number in range(1, 8)]


def entry(sequence: int) -> Any:
    return AuditEntry.objects.filter(partition=PARTITION, sequence=sequence)


def broken() -> tuple[str, int]:
    report = services.verify()
    assert not report.ok
    [found] = report.broken
    assert found.partition == PARTITION
    return found.reason, found.sequence


def rewrite(sequence: int, **changes: Any) -> None:
    """Change an entry and give it a hash that fits: the most careful forger short of rewriting the whole chain."""
    row = entry(sequence).get()
    for name, value in changes.items():
        setattr(row, name, value)
    entry(sequence).update(**changes, hash=content_hash(row))


def test_entries_form_a_chain(chain: list[AuditEntry]) -> None:
    assert [each.sequence for each in chain] == [1, 2, 3, 4, 5, 6, 7]
    assert chain[0].previous_hash == GENESIS
    assert [each.previous_hash for each in chain[1:]] == [each.hash for each in chain[:-1]]
    head = AuditChain.objects.get(partition=PARTITION)
    assert (head.sequence, head.hash) == (7, chain[-1].hash)
    report = services.verify()
    assert (report.ok, report.entries, report.broken) == (True, 7, ())


def test_an_empty_trail_holds() -> None:
    assert services.verify().ok
    assert services.verify(partition=3).entries == 0


def test_actors(db: None) -> None:
    user = User.objects.create_user("ada", password="pw")
    service = User.objects.create_user("robot")
    written = [
        services.append("k", subject=SUBJECT, actor=actor)
        for actor in (None, user, service, Identity("bot-7", "agent"))
    ]
    assert [(each.actor_type, each.actor_id) for each in written] == [
        ("system", ""),
        ("user", str(user.pk)),
        ("service", str(service.pk)),
        ("agent", "bot-7"),
    ]


def test_subjects_share_a_few_chains() -> None:
    append_all(Event("k", f"approval:{number}") for number in range(200))
    assert AuditEntry.objects.values("partition").distinct().count() == 16
    assert services.verify().ok


@pytest.mark.parametrize("column", ["kind", "actor_id", "actor_type", "module_id", "trace_id", "subject"])
def test_an_edited_text_is_found(chain: list[AuditEntry], column: str) -> None:
    with unprotected():
        entry(4).update(**{column: "forged"})
    assert broken() == ("edited", 4)


def test_edited_data_and_times_are_found(chain: list[AuditEntry]) -> None:
    with unprotected():
        entry(4).update(data={"number": 5})
        assert broken() == ("edited", 4)
        entry(4).update(data={"number": 4}, at=chain[3].at + timedelta(microseconds=1))
    assert broken() == ("edited", 4)


@pytest.mark.parametrize("sequence", [1, 4, 7])
def test_an_edit_with_a_fitting_hash_is_found(chain: list[AuditEntry], sequence: int) -> None:
    with unprotected():
        rewrite(sequence, data={"forged": True})
    assert broken() == ("edited", sequence)


@pytest.mark.parametrize("sequence", [1, 4, 6])
def test_a_deleted_entry_is_found(chain: list[AuditEntry], sequence: int) -> None:
    with unprotected():
        entry(sequence).delete()
    assert broken() == ("deleted", sequence)


@pytest.mark.parametrize("sequence", [1, 4])
def test_a_deletion_with_later_entries_moved_up_is_found(chain: list[AuditEntry], sequence: int) -> None:
    with unprotected():
        entry(sequence).delete()
        for later in range(sequence + 1, 8):
            entry(later).update(sequence=later - 1)
    assert broken() == ("deleted", sequence)


@pytest.mark.parametrize(("first", "second"), [(2, 3), (1, 7), (3, 6)])
def test_swapped_entries_are_found(chain: list[AuditEntry], first: int, second: int) -> None:
    with unprotected():
        entry(first).update(sequence=99)
        entry(second).update(sequence=first)
        entry(99).update(sequence=second)
    assert broken() == ("reordered", first)


@pytest.mark.parametrize("kept", [0, 3, 6])
def test_a_shortened_chain_is_found(chain: list[AuditEntry], kept: int) -> None:
    with unprotected():
        AuditEntry.objects.filter(partition=PARTITION, sequence__gt=kept).delete()
    assert broken() == ("truncated", kept + 1)


def test_a_head_that_was_turned_back_is_found(chain: list[AuditEntry]) -> None:
    AuditChain.objects.filter(partition=PARTITION).update(sequence=5, hash=chain[4].hash)
    assert broken() == ("inserted", 6)


def test_a_head_that_is_gone_is_found(chain: list[AuditEntry]) -> None:
    AuditChain.objects.all().delete()
    assert broken() == ("deleted", 7)


def test_an_entry_that_was_smuggled_in_is_found(chain: list[AuditEntry]) -> None:
    with unprotected():
        for later in range(7, 3, -1):
            entry(later).update(sequence=later + 1)
        forged = AuditEntry.objects.get(partition=PARTITION, sequence=3)
        forged.pk, forged.sequence, forged.kind, forged.previous_hash = None, 4, "forged", forged.hash
        forged.hash = content_hash(forged)
        forged.save(force_insert=True)
    assert broken() == ("inserted", 4)


def test_an_entry_that_was_appended_by_hand_is_found(chain: list[AuditEntry]) -> None:
    forged = entry(7).get()
    forged.pk, forged.sequence, forged.previous_hash = None, 8, forged.hash
    forged.hash = content_hash(forged)
    forged.save(force_insert=True)
    assert broken() == ("inserted", 8)


def test_the_first_broken_entry_of_each_chain_is_named(chain: list[AuditEntry]) -> None:
    other = next(f"approval:{n}" for n in range(99) if partition_of(f"approval:{n}") != PARTITION)
    services.append("k", subject=other)
    with unprotected():
        entry(3).update(kind="x")
        entry(5).update(kind="x")
        AuditEntry.objects.filter(subject=other).update(kind="x")
    found = {(each.partition, each.sequence) for each in services.verify().broken}
    assert found == {(PARTITION, 3), (partition_of(other), 1)}
    assert (
        services.verify(partition_of(other)).broken[0].message
        == f"Entry 1 (x, {other}): its content is not what was written."
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.dictionaries(st.text(), JSON, max_size=4), actor=st.text(min_size=1))
def test_whatever_is_written_can_be_verified(db: None, data: dict[str, Any], actor: str) -> None:
    services.append("k", subject=SUBJECT, actor=Identity(actor, "agent"), data=data)
    assert services.verify().ok


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE django_apcore_auditentry SET kind = 'x'",
        pytest.param("DELETE FROM django_apcore_auditentry", marks=pytest.mark.postgresql),
    ],
)
def test_the_database_refuses_to_change_the_trail(chain: list[AuditEntry], change: str) -> None:
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(change)
    assert services.verify().ok


# -- the heads of the chains ------------------------------------------------------------------------------------------

CONFIG = apps.get_app_config("django_apcore")
SUBJECTS = ("approval:1", next(f"approval:{n}" for n in range(2, 99) if partition_of(f"approval:{n}") != PARTITION))


class Elsewhere:
    """A router that keeps our tables out of the second database."""

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db != "other"


def heads(using: str = "default") -> list[tuple[int, int, str]]:
    return list(AuditChain.objects.using(using).order_by("pk").values_list("partition", "sequence", "hash"))


def test_every_chain_has_a_head_from_the_start() -> None:
    assert heads() == heads("other") == [(number, 0, GENESIS) for number in range(PARTITIONS)]


@pytest.mark.django_db(transaction=True)
def test_heads_are_there_again_after_tables_were_emptied() -> None:
    services.append("k", subject=SUBJECT)
    call_command("flush", interactive=False, verbosity=0)
    assert heads() == [(number, 0, GENESIS) for number in range(PARTITIONS)]


def test_migrating_again_leaves_heads_alone_and_makes_those_that_are_missing(chain: list[AuditEntry]) -> None:
    before = heads()
    AuditChain.objects.filter(sequence=0).delete()
    emit_post_migrate_signal(verbosity=0, interactive=False, db="default")
    assert heads() == before


def test_a_database_that_is_not_to_have_our_tables_gets_no_heads(settings: Any) -> None:
    AuditChain.objects.using("other").all().delete()
    settings.DATABASE_ROUTERS = [Elsewhere()]
    post_migrate.send(sender=CONFIG, app_config=CONFIG, using="other", verbosity=0, interactive=False)
    assert heads("other") == []


def test_no_heads_are_made_where_migrations_have_not_made_the_table() -> None:
    AuditChain.objects.all().delete()
    post_migrate.send(sender=CONFIG, app_config=CONFIG, using="default", verbosity=0, interactive=False, apps=Apps())
    assert heads() == []


def test_a_head_that_was_deleted_is_not_made_again(chain: list[AuditEntry]) -> None:
    AuditChain.objects.filter(partition=PARTITION).delete()
    make_heads("default")
    assert broken() == ("deleted", 7)
    with pytest.raises(AuditHeadMissing, match=f"Chain {PARTITION} "):
        services.append("k", subject=SUBJECT)


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("fresh", ["migrated", "emptied"])
def test_two_transactions_about_the_same_two_subjects_in_opposite_order(fresh: str) -> None:
    """The second begins while the first has written about one subject, and is not in its way."""
    if fresh == "emptied":
        AuditChain.objects.all().delete()
    failures: list[Exception] = []
    written = threading.Event()

    def second() -> None:
        try:
            with transaction.atomic():
                services.append("k", subject=SUBJECTS[1])
                written.set()
                services.append("k", subject=SUBJECTS[0])
        except Exception as error:  # noqa: BLE001 - whatever it is, the test looks at it
            failures.append(error)
        finally:
            connections.close_all()

    other = threading.Thread(target=second)
    with transaction.atomic():
        services.append("k", subject=SUBJECTS[0])
        other.start()
        while not written.is_set() and other.is_alive() and not _somebody_waits():
            time.sleep(0.01)
        services.append("k", subject=SUBJECTS[1])
    other.join(20)
    assert (other.is_alive(), failures) == (False, [])
    assert [row[0] for row in heads()] == list(range(PARTITIONS))
    assert (services.verify().ok, services.verify().entries) == (True, 4)


def _somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(cursor.fetchone()[0])
