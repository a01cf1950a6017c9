import os
import random
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from apcore.effects import EffectRecord, change_digest
from apcore.modules.change import UNSET, Change
from tests.apcore.strategies import changes


@given(st.lists(changes, max_size=8), st.randoms(use_true_random=False))
def test_the_order_in_which_changes_are_found_does_not_matter(found: list[Change], rng: random.Random) -> None:
    shuffled = list(found)
    rng.shuffle(shuffled)
    assert EffectRecord.build("measured", found).digest == EffectRecord.build("measured", shuffled).digest


@given(st.lists(changes, max_size=8), st.integers(0, 10))
def test_the_listing_cap_does_not_matter(found: list[Change], listed: int) -> None:
    capped = EffectRecord.build("measured", found, listed=listed)
    assert capped.digest == EffectRecord.build("measured", found).digest
    assert capped.total == len(found)
    assert len(capped.changes) == min(listed, len(found))


@given(changes, changes)
def test_equal_digests_mean_equal_meaning(one: Change, other: Change) -> None:
    def meaning(change: Change) -> tuple[object, ...]:
        return change.action, change.target, repr(change.before), repr(change.after)

    if meaning(one) == meaning(other):
        assert change_digest(one) == change_digest(other)
    elif change_digest(one) == change_digest(other):
        # 1 and 1.0, 0.0 and -0.0 are one number in canonical JSON or they are not; nothing else may collide.
        assert (one.action, one.target, one.before, one.after) == (
            other.action,
            other.target,
            other.before,
            other.after,
        )


def test_every_part_of_the_meaning_counts_and_wording_does_not() -> None:
    base = Change("update", "store.Track:1", "one", before={"a": 1}, after={"a": 2})
    reworded = Change("update", "store.Track:1", "other words", before={"a": 1}, after={"a": 2}, **{"x-label": "x"})
    assert change_digest(base) == change_digest(reworded)
    different = [
        Change("delete", "store.Track:1", "one", before={"a": 1}, after={"a": 2}),
        Change("update", "store.Track:2", "one", before={"a": 1}, after={"a": 2}),
        Change("update", "store.Track:1", "one", before={"a": 0}, after={"a": 2}),
        Change("update", "store.Track:1", "one", before={"a": 1}, after={"a": 3}),
        Change("update", "store.Track:1", "one", before={"a": "1"}, after={"a": 2}),
        Change("update", "store.Track:1", "one", after={"a": 2}),
        Change("update", "store.Track:1", "one", before=None, after={"a": 2}),
        Change("update", "store.Track:1", "one", before={"a": 1}, after={"a": 2}, **{"x-alias": "other"}),
    ]
    digests = {change_digest(change) for change in [base, *different]}
    assert len(digests) == len(different) + 1


def test_provenance_gaps_and_repetition_count() -> None:
    change = Change("send", "mail:a@example.com", "hello")
    records = [
        EffectRecord.build("measured", [change]),
        EffectRecord.build("declared", [change]),
        EffectRecord.build("measured", [change], gaps=["raw SQL"]),
        EffectRecord.build("measured", [change, change]),
        EffectRecord.build("measured", []),
    ]
    assert len({record.digest for record in records}) == len(records)


def test_an_absent_snapshot_is_not_null() -> None:
    assert change_digest(Change("x", "t", "s", before=UNSET)) != change_digest(Change("x", "t", "s", before=None))


def test_values_that_python_takes_for_equal_are_not_the_same_effect() -> None:
    values = [
        1,
        1.0,
        True,
        "1",
        0.0,
        -0.0,
        False,
        None,
        "é",
        "e\u0301",
        [],
        {},
        "",
        [1],
        [[1]],
        {"a": 1},
        2**70,
        2.0**70,
    ]
    digests = {change_digest(Change("update", "x", "", before=value)) for value in values}
    assert len(digests) == len(values)


def test_lone_surrogates_have_a_digest_in_changes_and_gaps() -> None:
    change = Change("update", "\ud800", "", before="\udfff", after={"\ud800": "\ud801"})
    assert EffectRecord.build("measured", [change], gaps=["table \ud800"]).digest


IN_ANOTHER_PROCESS = """
from apcore.effects import EffectRecord
from apcore.modules import Change, module
from apcore.modules import define_module
fields = {name: {"b": 1, "a": [name]} for name in ("id", "name", "owner", "x", "é")}
changes = [Change("update", name, "", after=fields) for name in fields]
record = EffectRecord.build("measured", changes, gaps={"g1", "g2"})

@module(id="a.b", tags=["x", "y"])
def f(a: int | None = None, b: dict[str, int] | list[str] = {}) -> dict:
    "Describe"
    return {}

print(record.digest, define_module("a.b", f).content_hash)
"""


def test_digests_are_the_same_in_every_process() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", IN_ANOTHER_PROCESS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(printed) == 1
