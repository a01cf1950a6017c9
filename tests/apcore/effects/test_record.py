import copy
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.effects import NO_EFFECT, EffectRecord
from apcore.effects.digest import change_digest, effect_digest
from apcore.modules.change import Change
from apcore.redaction import SensitiveValues
from tests.apcore.strategies import changes


@given(st.lists(changes, max_size=5), st.lists(st.text(), max_size=2))
def test_the_wire_form_round_trips_through_json(found: list[Change], gaps: list[str]) -> None:
    record = EffectRecord.build("measured", found, gaps=gaps, unwatched=["network"])
    assert EffectRecord.from_dict(json.loads(json.dumps(record.to_dict()))) == record


@pytest.mark.req("DR-08")
def test_counts_are_by_kind_and_action() -> None:
    record = EffectRecord.build(
        "measured",
        [
            Change("update", "store.Track:1", "s", **{"x-kind": "store.Track"}),
            Change("update", "store.Track:2", "s", **{"x-kind": "store.Track"}),
            Change("delete", "store.Invoice:9", "s"),
        ],
    )
    assert record.counts == {"store.Invoice:delete": 1, "store.Track:update": 2}
    assert record.total == 3
    assert record.destructive


def test_a_gap_makes_a_record_incomplete() -> None:
    assert EffectRecord.build("measured").complete
    assert not EffectRecord.build("measured", gaps=["a trigger wrote"]).complete


@pytest.mark.req("DR-13")
def test_no_effect_is_not_an_empty_effect() -> None:
    assert NO_EFFECT.provenance == "none"
    assert not NO_EFFECT.complete
    assert NO_EFFECT.digest != EffectRecord.build("measured").digest


def test_a_limited_form_still_tells_the_total() -> None:
    record = EffectRecord.build("planned", [Change("a", f"t:{n}", "s") for n in range(5)])
    data = record.to_dict(limit=2)
    assert len(data["changes"]) == 2
    assert data["total"] == 5
    assert data["digest"] == record.digest


def test_no_change_shows_a_secret_and_the_digest_does_not_give_it_away() -> None:
    def record(pin: str) -> EffectRecord:
        labels = {"x-kind": "shop.Card", "x-label": f"card {pin}"}
        change = Change("insert", "shop.Card:1", f"Add {pin}", after={"pin": pin}, **labels)
        return EffectRecord.build("measured", [change], secrets=SensitiveValues({"pin": pin}, keys=["pin"]))

    [change] = record("4711-0815").changes
    assert (change.summary, change.after) == ("Add ***REDACTED***", {"pin": "***REDACTED***"})
    assert change.extras == {"x-kind": "shop.Card", "x-label": "card ***REDACTED***"}
    assert record("4711-0815").digest == record("0000-0000").digest


def test_a_caller_cannot_hide_what_happens_by_calling_it_a_secret() -> None:
    secrets = SensitiveValues({"password": "delete", "token": "shop.Card"})
    change = Change("delete", "shop.Card:1", "Delete card", before={"n": 1}, **{"x-kind": "shop.Card"})
    record = EffectRecord.build("measured", [change], secrets=secrets)
    assert record.destructive
    assert record.counts == {"shop.Card:delete": 1}
    assert (record.changes[0].action, record.changes[0].target) == ("delete", "shop.Card:1")


@given(st.lists(changes, max_size=5), st.lists(st.text(), max_size=2))
def test_a_digest_and_counts_that_are_made_later_are_those_that_would_have_been_made_at_once(
    found: list[Change], gaps: list[str]
) -> None:
    late = EffectRecord.build("planned", found, gaps=gaps)
    assert late.digest == effect_digest("planned", gaps, [change_digest(each) for each in found])
    assert late.digest == late.digest
    at_once = EffectRecord.build("planned", found, gaps=gaps, listed=0)
    assert (late.counts, late.total, late.digest) == (at_once.counts, at_once.total, at_once.digest)


def test_a_record_whose_digest_nobody_asked_for_yet_can_be_copied_compared_and_shown() -> None:
    def record() -> EffectRecord:
        return EffectRecord.build("declared", [Change("update", "a:1", "s", before=None, after="x")])

    digest = record().digest
    assert len(digest) == 64
    assert digest in repr(record())
    assert copy.copy(record()).digest == digest
    assert record() == record()
    assert replace(record(), gaps=("a trigger wrote",)).digest == digest
    assert hasattr(record(), "digest")
    assert replace(record(), gaps=("a trigger wrote",)).counts == {"a:update": 1}
    assert not hasattr(record(), "summary")


def test_what_a_module_does_to_its_snapshots_afterwards_does_not_change_the_digest() -> None:
    state = {"price": 5}
    changes = [Change("update", "a:1", "s", before=1), Change("update", "a:2", "s", before=state)]
    expected = effect_digest("declared", (), [change_digest(each) for each in changes])
    record = EffectRecord.build("declared", changes)
    state["price"] = 500
    assert record.digest == expected


@pytest.mark.parametrize("value", [float("nan"), 10**5000, {1}, object()], ids=["nan", "huge", "set", "object"])
def test_a_value_that_is_no_json_is_refused_at_once(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        EffectRecord.build("declared", [Change("update", "a:1", "s", after=value)])


def test_changes_that_are_not_listed_are_in_the_digest() -> None:
    found = [Change("update", f"a:{number}", "s") for number in range(4)]
    short = EffectRecord.build("declared", found, listed=2)
    assert (len(short.changes), short.total) == (2, 4)
    assert short.digest == EffectRecord.build("declared", found).digest
