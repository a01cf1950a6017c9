import random

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
