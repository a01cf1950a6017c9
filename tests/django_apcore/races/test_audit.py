"""The audit trail under eight writers, and what a database that is no test database says to who would touch it."""

from pathlib import Path
from uuid import uuid4

import pytest

from tests.django_apcore.races.conftest import Arena, Racer
from tests.django_apcore.trail import TABLE


def test_eight_processes_write_and_one_prunes_meanwhile(arena: Arena, tmp_path: Path) -> None:
    writers = [arena.start() for _ in range(8)]
    keeper = arena.racers[0]
    moves = [(writer, "append_widely", {"name": "many", "times": 40}) for writer in writers]
    told = arena.race(*moves, (keeper, "keep", {"directory": str(tmp_path)}))
    assert [each.get("answer") for each in told[:-1]] == [40] * 8
    pruned_before = told[-1]["answer"]
    assert keeper.do("verify", times=1)
    in_database = keeper.do("written", name="many")
    in_archives = sum(file.read_text().count('"subject":"many:') for file in tmp_path.iterdir())
    assert in_database + in_archives == 320, pruned_before
    for writer in writers:
        writer.process.stdin.close()
        writer.process.wait()


@pytest.mark.postgresql
def test_nobody_waits_for_a_chain_that_another_transaction_holds(first: Racer, second: Racer, race_dir: Path) -> None:
    name = f"held-{uuid4().hex[:8]}"
    sign = race_dir / name
    sign.touch()
    second.tell("append_and_hold", subject=f"{name}:1", sign=str(sign))
    assert second.hear() == {"answer": "held"}
    assert first.do("append", subject=f"{name}:1", times=3) == 3
    sign.unlink()
    assert second.hear() == {"answer": True}
    assert first.do("written", name=name) == 4
    assert first.do("verify", times=1)


def test_a_writer_that_is_killed_leaves_an_unbroken_chain_and_no_lock(
    arena: Arena, first: Racer, race_dir: Path
) -> None:
    name = f"killed-{uuid4().hex[:8]}"
    (race_dir / name).touch()
    victim = arena.start()
    victim.tell("append_and_hold", subject=f"{name}:1", sign=str(race_dir / name))
    assert victim.hear() == {"answer": "held"}
    victim.kill()
    assert first.do("append", subject=f"{name}:1", times=3) == 3
    assert first.do("written", name=name) == 3
    assert first.do("verify", times=1)


@pytest.mark.parametrize(
    "statement",
    [
        f"UPDATE {TABLE} SET kind = 'forged'",
        f"DELETE FROM {TABLE}",
        f"DELETE FROM {TABLE} WHERE sequence = 1",
        pytest.param(f"TRUNCATE {TABLE}", marks=pytest.mark.postgresql),
    ],
)
def test_the_database_refuses_what_is_no_pruning(first: Racer, statement: str) -> None:
    for number in range(3):
        first.do("append", subject=f"refused:{number}", times=2)
    before = first.do("written", name="refused")
    assert "The audit trail is append-only" in first.do("tamper", statement=statement)
    assert first.do("written", name="refused") == before
    assert first.do("verify", times=1)


def test_what_was_sealed_archived_and_pruned_may_go(first: Racer, tmp_path: Path) -> None:
    first.do("append", subject="kept", times=3)
    assert first.do("keep", directory=str(tmp_path)) >= 3
    assert first.do("verify", times=1)
    assert "append-only" in first.do("tamper", statement=f"DELETE FROM {TABLE}")
