import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.effects import NO_EFFECT, EffectRecord
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
