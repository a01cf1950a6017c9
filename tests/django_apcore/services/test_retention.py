"""Segments of the trail: sealed, archived, pruned, and verified with and without the database."""

import hashlib
import json
import tracemalloc
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from apcore import Identity
from django_apcore import services
from django_apcore.exceptions import ArchiveError
from django_apcore.models import AuditChain, AuditEntry
from django_apcore.services._trail import PRUNED, SEALED, Segment, content_hash
from django_apcore.services.audit import Event, append_all, partition_of
from tests.django_apcore.trail import TABLE, unprotected

pytestmark = pytest.mark.django_db(databases=["default", "other"])

SUBJECT = "approval:1"
PARTITION = partition_of(SUBJECT)
AT_ONCE = timedelta(0)


def write(count: int = 5) -> None:
    append_all(
        Event("kind", SUBJECT, Identity("bot", "agent"), data={"number": n, "text": "ä", "x": 1.5})
        for n in range(count)
    )


def entry(sequence: int) -> Any:
    return AuditEntry.objects.filter(partition=PARTITION, sequence=sequence)


def sequences() -> list[int]:
    return list(AuditEntry.objects.filter(partition=PARTITION).order_by("sequence").values_list("sequence", flat=True))


def prune_once(directory: Path) -> Path:
    """Entries 1 to 5 pruned; what is left are their seal, two records, and three more."""
    write(5)
    services.seal()
    [file] = services.archive(directory)
    write(1)
    services.prune(directory, older_than=AT_ONCE)
    write(2)
    return file


def broken() -> tuple[str, int]:
    report = services.verify()
    assert not report.ok
    [found] = report.broken
    return found.reason, found.sequence


# -- segments ---------------------------------------------------------------------------------------------------------


def test_a_seal_says_what_is_before_it() -> None:
    write(5)
    [segment] = services.seal()
    first, last, seal = entry(1).get(), entry(5).get(), entry(6).get()
    assert segment == Segment(PARTITION, 1, 5, 5, first.hash, last.hash, "0" * 64)
    assert (seal.kind, seal.previous_hash, seal.data) == (SEALED, last.hash, segment.to_data())
    assert services.verify().ok


def test_segments_follow_on_from_each_other_and_none_is_empty() -> None:
    write(5)
    services.seal()
    assert services.seal() == []
    write(1)
    [second] = services.seal()
    assert (second.first_sequence, second.last_sequence, second.count) == (6, 7, 2)
    assert second.previous_hash == entry(5).get().hash
    assert services.verify().ok


def test_a_young_segment_is_left_open() -> None:
    write()
    assert services.seal(older_than=timedelta(days=1)) == []
    assert services.seal(PARTITION + 1) == []


def test_a_gap_is_not_sealed() -> None:
    write()
    with unprotected():
        entry(3).delete()
    assert services.seal() == []


def test_an_archive_holds_a_segment_and_its_seal(tmp_path: Path) -> None:
    write(5)
    services.seal()
    [file] = services.archive(tmp_path / "new")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["sequence"] for line in lines] == [1, 2, 3, 4, 5, 6]
    [state] = services.segments()
    assert (state.archive, state.sha256) == (file.name, hashlib.sha256(file.read_bytes()).hexdigest())
    assert services.archive(tmp_path / "new") == []
    assert services.verify().ok
    assert [each.name for each in (tmp_path / "new").iterdir()] == [file.name]


def test_a_segment_that_does_not_hold_is_not_archived(tmp_path: Path) -> None:
    write()
    services.seal()
    with unprotected():
        entry(3).update(kind="forged")
    with pytest.raises(ArchiveError, match="does not hold"):
        services.archive(tmp_path)
    with unprotected():
        entry(3).delete()
    with pytest.raises(ArchiveError, match="missing"):
        services.archive(tmp_path)
    assert [state.archived_at for state in services.segments()] == [None]


def test_the_archive_of_another_trail_is_not_overwritten(tmp_path: Path) -> None:
    write(5)
    [segment] = services.seal()
    (tmp_path / segment.file_name).write_text("another trail")
    with pytest.raises(ArchiveError, match="another trail"):
        services.archive(tmp_path)
    assert [each.read_text() for each in tmp_path.iterdir()] == ["another trail"]
    assert [state.archived_at for state in services.segments()] == [None]


def test_an_archive_that_was_written_and_not_recorded_is_recorded_by_the_next(tmp_path: Path) -> None:
    write(5)
    services.seal()
    room = import_module("django_apcore.services.archive")
    with mock.patch.object(room, "_sync", side_effect=OSError("the process ends")), pytest.raises(OSError):  # noqa: PT011
        services.archive(tmp_path)
    assert [state.archived_at for state in services.segments()] == [None]
    [file] = services.archive(tmp_path)
    assert list(tmp_path.iterdir()) == [file]
    assert len(services.prune(tmp_path, older_than=AT_ONCE)) == 1


def test_who_comes_second_records_nothing(tmp_path: Path) -> None:
    write(5)
    services.seal()
    room = import_module("django_apcore.services.archive")
    original, second = room.line_of, []

    def meanwhile(line: AuditEntry) -> str:
        if not second:
            second.append(line)
            second[:] = services.archive(tmp_path)
            services.prune(tmp_path, older_than=AT_ONCE)
        return str(original(line))

    with mock.patch.object(room, "line_of", meanwhile):
        assert services.archive(tmp_path) == []
    assert second == list(tmp_path.iterdir())
    assert AuditEntry.objects.filter(kind="audit.archived").count() == 1
    assert services.verify().ok


def test_verification_continues_from_the_seal(tmp_path: Path) -> None:
    file = prune_once(tmp_path)
    assert sequences() == [6, 7, 8, 9, 10, 11]
    report = services.verify()
    assert (report.ok, report.entries, report.pruned) == (True, 6, 5)
    assert [bool(state.pruned_at) for state in services.segments()] == [True]
    assert services.verify_files([file]).ok
    services.seal()
    [second] = services.archive(tmp_path)
    services.prune(tmp_path, older_than=AT_ONCE)
    assert sequences() == [12, 13, 14]
    assert services.verify().ok
    both = services.verify_files([file, second])
    assert (both.ok, both.entries) == (True, 13)


def test_what_is_young_or_not_archived_stays(tmp_path: Path) -> None:
    write(5)
    services.seal()
    assert services.prune(tmp_path, older_than=AT_ONCE) == []
    services.archive(tmp_path)
    assert services.prune(tmp_path, older_than=timedelta(days=1)) == []
    assert sequences() == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("harm", [lambda file: file.unlink(), lambda file: file.write_text("{}\n")])
def test_nothing_is_pruned_without_its_archive(tmp_path: Path, harm: Any) -> None:
    write(5)
    services.seal()
    [file] = services.archive(tmp_path)
    harm(file)
    with pytest.raises(ArchiveError, match=str(file)):
        services.prune(tmp_path, older_than=AT_ONCE)
    assert entry(1).exists()


# -- forgeries --------------------------------------------------------------------------------------------------------


def test_a_missing_seal_is_named(tmp_path: Path) -> None:
    prune_once(tmp_path)
    with unprotected():
        entry(6).delete()
    assert broken() == ("seal_missing", 6)
    assert "the seal of the entries before it" in services.verify().broken[0].message


def test_a_missing_seal_inside_a_chain_is_named(tmp_path: Path) -> None:
    write(5)
    services.seal()
    services.archive(tmp_path)
    with unprotected():
        entry(6).delete()
    assert broken() == ("seal_missing", 6)


@pytest.mark.parametrize("changes", [{"kind": "forged"}, {"data": {"last_sequence": 5}}, {"previous_hash": "f" * 64}])
@pytest.mark.parametrize("rehashed", [False, True])
def test_a_forged_seal_is_named(tmp_path: Path, changes: dict[str, Any], rehashed: bool) -> None:
    prune_once(tmp_path)
    row = entry(6).get()
    for name, value in changes.items():
        setattr(row, name, value)
    with unprotected():
        entry(6).update(**changes, hash=content_hash(row) if rehashed else row.hash)
    assert broken() == ("seal_forged", 6)


@pytest.mark.parametrize("kind", ["audit.sealed", "audit.archived", "audit.pruned"])
@pytest.mark.parametrize("nonsense", [[], ["x"], "x", {}, {"last_sequence": "x"}, {"last_sequence": 10**15}])
def test_an_entry_about_a_segment_that_holds_nonsense_is_named(tmp_path: Path, kind: str, nonsense: Any) -> None:
    prune_once(tmp_path)
    found = AuditEntry.objects.filter(partition=PARTITION, kind=kind)
    with unprotected():
        found.update(data=nonsense)
    assert broken()[1] <= found.get().sequence
    if kind == "audit.sealed":
        with pytest.raises(ArchiveError, match="no seal"):
            services.archive(tmp_path)


def test_a_seal_that_was_invented_to_hide_a_deletion_is_found() -> None:
    write(7)
    fourth, third = entry(4).get(), entry(3).get()
    fourth.kind, fourth.subject = SEALED, f"audit:{PARTITION}"
    fourth.data = Segment(PARTITION, 1, 3, 3, entry(1).get().hash, third.hash, "0" * 64).to_data()
    with unprotected():
        AuditEntry.objects.filter(partition=PARTITION, sequence__lt=4).delete()
        entry(4).update(kind=fourth.kind, subject=fourth.subject, data=fourth.data, hash=content_hash(fourth))
    assert broken() == ("edited", 4)


def test_deleting_a_sealed_segment_without_pruning_it_is_found(tmp_path: Path) -> None:
    write(5)
    services.seal()
    services.archive(tmp_path)
    with unprotected():
        AuditEntry.objects.filter(partition=PARTITION, sequence__lt=6).delete()
    assert broken() == ("deleted", 1)


def test_a_record_of_a_pruning_that_was_changed_is_found(tmp_path: Path) -> None:
    prune_once(tmp_path)
    record = AuditEntry.objects.get(kind=PRUNED)
    with unprotected():
        AuditEntry.objects.filter(pk=record.pk).update(data={**record.data, "last_sequence": 3})
    assert broken() == ("edited", record.sequence)


def test_an_entry_that_comes_back_is_found(tmp_path: Path) -> None:
    prune_once(tmp_path)
    AuditEntry.objects.create(
        partition=PARTITION, sequence=2, at=timezone.now(), kind="k", subject=SUBJECT, hash="f" * 64
    )
    assert broken() == ("inserted", 2)


# -- what the database allows -----------------------------------------------------------------------------------------


def delete(condition: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {TABLE} WHERE partition = {PARTITION} AND {condition}")


@pytest.mark.postgresql
def test_postgresql_lets_only_whole_pruned_segments_go(tmp_path: Path) -> None:
    write(5)
    for step in (lambda: None, services.seal, lambda: services.archive(tmp_path)):
        step()
        with pytest.raises(DatabaseError, match="append-only"):
            delete("sequence <= 5")
    whole = next(services.segments())
    told = {**whole.segment.to_data(), "until": (timezone.now() - timedelta(days=1)).isoformat()}
    services.append("test", subject=SUBJECT)
    services.audit.append_to(PARTITION, Event(PRUNED, f"audit:{PARTITION}", data=told))
    with pytest.raises(DatabaseError, match="append-only"):
        delete("sequence <= 5")  # too young by that record
    services.audit.append_to(
        PARTITION, Event(PRUNED, f"audit:{PARTITION}", data={**told, "until": timezone.now().isoformat()})
    )
    for part in ("sequence <= 4", "sequence BETWEEN 2 AND 5", "sequence <= 6", "sequence = 6", "sequence > 6", "true"):
        with pytest.raises(DatabaseError, match="append-only"):
            delete(part)
    delete("sequence <= 5")
    assert services.verify().ok


@pytest.mark.postgresql
def test_a_table_of_the_same_name_in_the_search_path_does_not_help() -> None:
    write(5)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA decoy")
        cursor.execute(f"CREATE TABLE decoy.{TABLE} (LIKE public.{TABLE})")
        cursor.execute("SET LOCAL search_path TO decoy, public")
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            cursor.execute(f"DELETE FROM public.{TABLE}")
        transaction.set_rollback(True)


# -- export -----------------------------------------------------------------------------------------------------------


def export(file: Path, **bounds: Any) -> Path:
    file.write_text("".join(services.export_trail(**bounds)), encoding="utf-8")
    return file


def test_an_export_is_verified_without_the_database(tmp_path: Path) -> None:
    append_all(Event("k", f"approval:{number}", data={"n": number}) for number in range(60))
    file = export(tmp_path / "trail.jsonl")
    with mock.patch("django.db.backends.utils.CursorWrapper.execute", side_effect=AssertionError("a query")):
        report = services.verify_files([file])
    assert (report.ok, report.entries, len(report.chains)) == (True, 60, 16)
    heads = {head.pk: (head.sequence, head.hash) for head in AuditChain.objects.all()}
    assert {chain.partition: (chain.last_sequence, chain.last_hash) for chain in report.chains} == heads


def test_a_window_of_a_chain_has_no_gaps(tmp_path: Path) -> None:
    write(6)
    start = datetime(2031, 1, 1, tzinfo=UTC)
    with unprotected():  # the third was written by a machine whose clock was late
        for number, hours in enumerate((0, 1, -5, 3, 4, 5), start=1):
            entry(number).update(at=start + timedelta(hours=hours))
    lines = list(services.export_trail(since=start + timedelta(hours=1), until=start + timedelta(hours=5)))
    assert [json.loads(line)["sequence"] for line in lines] == [2, 3, 4, 5]
    assert list(services.export_trail(partition=PARTITION + 1)) == []
    assert list(services.export_trail(since=start + timedelta(days=1))) == []


def test_a_part_of_a_chain_is_verified_and_says_where_it_begins(tmp_path: Path) -> None:
    write(6)
    lines = list(services.export_trail())[2:5]
    file = tmp_path / "part.jsonl"
    file.write_text("".join(lines))
    report = services.verify_files([file])
    [chain] = report.chains
    assert report.ok
    assert (chain.first_sequence, chain.last_sequence, chain.is_sealed) == (3, 5, False)
    assert chain.previous_hash == entry(2).get().hash


def edited(lines: list[str]) -> list[str]:
    return [lines[0], lines[1].replace("bot", "bob"), *lines[2:]]


def rehashed(lines: list[str]) -> list[str]:
    row = entry(2).get()
    row.kind = "forged"
    forged = json.loads(lines[1]) | {"kind": "forged", "hash": content_hash(row)}
    return [lines[0], json.dumps(forged) + "\n", *lines[2:]]


HARMS: list[Any] = [
    (edited, ("edited", 2)),
    (rehashed, ("edited", 2)),
    (lambda lines: [lines[0], *lines[2:]], ("deleted", 2)),
    (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], ("deleted", 2)),
    (lambda lines: [*lines, lines[1]], ("reordered", 7)),
    (lambda lines: [lines[0], "{", *lines[2:]], ("unreadable", 2)),
    (lambda lines: [lines[0], '"text"\n', *lines[1:]], ("unreadable", 2)),
    (lambda lines: [lines[0].replace('"at":', '"kind":"twice","at":'), *lines[1:]], ("unreadable", 1)),
    (lambda lines: [lines[0].replace('"sequence":1', '"sequence":1.0'), *lines[1:]], ("unreadable", 1)),
    (lambda lines: ["[" * 100_000 + "\n", *lines], ("unreadable", 1)),
    (lambda lines: [lines[0].replace("bot", "\\ud800"), *lines[1:]], ("edited", 1)),
    (lambda lines: [lines[0].replace("1.5", "NaN"), *lines[1:]], ("unreadable", 1)),
]


@pytest.mark.parametrize(("harm", "expected"), HARMS)
def test_a_harmed_file_is_found_out(tmp_path: Path, harm: Any, expected: tuple[str, int]) -> None:
    write(5)
    services.seal()
    file = export(tmp_path / "trail.jsonl")
    file.write_text("".join(harm(file.read_text().splitlines(keepends=True))))
    report = services.verify_files([file])
    assert not report.ok
    assert (report.broken[0].reason, report.broken[0].line) == expected


def test_a_line_that_is_shorter_than_written_is_found(tmp_path: Path) -> None:
    write(5)
    file = export(tmp_path / "trail.jsonl")
    file.write_bytes(file.read_bytes()[:-20])
    assert services.verify_files([file]).broken[0].reason == "unreadable"


def test_a_missing_file_in_between_is_found(tmp_path: Path) -> None:
    files = []
    for _ in range(3):
        write(3)
        services.seal()
        files += services.archive(tmp_path)
    assert services.verify_files(files).ok
    [found] = services.verify_files([files[0], files[2]]).broken
    assert (found.file, found.line, found.reason) == (str(files[2]), 1, "deleted")


# -- size -------------------------------------------------------------------------------------------------------------


def peak(work: Any) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_trail(tmp_path: Path) -> None:
    def measure() -> list[int]:
        verified = peak(services.verify)
        exported = peak(lambda: sum(len(line) for line in services.export_trail()))
        return [verified, exported, peak(lambda: services.verify_files([export(tmp_path / "a.jsonl")]))]

    with mock.patch("django_apcore.services._trail._PAGE", 100):
        write(200)
        small = measure()
        write(1800)
        large = measure()
    assert services.verify().entries == 2000
    assert all(more < less * 1.5 + 200_000 for less, more in zip(small[:2], large[:2], strict=True)), (small, large)
