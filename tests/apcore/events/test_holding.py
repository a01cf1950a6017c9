import asyncio

import pytest

from apcore import Event, EventEmitter
from apcore.events import core_event, hold_events

TOGGLED = core_event("apcore.module.toggled", {"module_id": "a.b", "enabled": False})
DENIED = core_event("apcore.approval.denied", {"module_id": "a.b", "approval_id": None, "decided_by": None})
OWN = Event("billing.invoice_generated")


@pytest.fixture
def emitter():
    return EventEmitter()


@pytest.fixture
def heard(emitter):
    events = []
    emitter.subscribe(lambda event: events.append(event.type))
    return events


def test_what_is_emitted_meanwhile_waits_and_comes_in_order(emitter, heard):
    with hold_events() as held:
        emitter.emit(OWN)
        asyncio.run(emitter.emit_async(TOGGLED))
        assert heard == []
    assert heard == []
    held.release()
    assert heard == [OWN.type, TOGGLED.type]
    held.release()
    assert len(heard) == 2


def test_of_what_was_undone_only_facts_about_calls_remain(emitter, heard):
    with hold_events() as held:
        for event in (OWN, TOGGLED, DENIED):
            emitter.emit(event)
    held.drop()
    assert heard == [DENIED.type]


def test_inner_blocks_share_the_fate_of_the_outer_one(emitter, heard):
    with hold_events() as outer:
        with hold_events() as inner:
            emitter.emit(OWN)
        inner.release()
        assert heard == []
    outer.drop()
    assert heard == []


def test_an_inner_block_can_be_undone_alone(emitter, heard):
    with hold_events() as outer:
        emitter.emit(TOGGLED)
        with hold_events() as inner:
            emitter.emit(OWN)
        inner.drop()
    outer.release()
    assert heard == [TOGGLED.type]


def test_after_the_block_nothing_waits(emitter, heard):
    with pytest.raises(ValueError, match="no"), hold_events():
        raise ValueError("no")
    emitter.emit(OWN)
    assert heard == [OWN.type]


def test_what_waits_can_be_seen_by_emitter(emitter):
    other = EventEmitter()
    for each in (emitter, other):
        each.subscribe(lambda event: None)
    with hold_events() as held:
        emitter.emit(OWN)
        other.emit(TOGGLED)
    assert [event.type for event in held.waiting_for(emitter.emit)] == [OWN.type]
    held.release()
    assert held.waiting_for(emitter.emit) == []
