import json
from datetime import datetime, timedelta, timezone

import pytest

from apcore import Event
from apcore.errors import InvalidInputError
from apcore.events import CORE_EVENTS, core_event
from tests.apcore.events.samples import payload_of


@pytest.mark.parametrize("name", ["module_registered", "", "Billing.x", "billing.", ".x", "a b.c", "b.x-y"])
def test_a_type_that_is_no_dotted_name_is_refused(name):
    with pytest.raises(InvalidInputError, match="event type"):
        Event(name)


@pytest.mark.parametrize("name", ["billing.invoice_generated", "apcore-mcp.tool_called", "a.b.c_1"])
def test_names_of_others_are_fine(name):
    assert Event(name).type == name


def test_an_unknown_severity_is_refused():
    with pytest.raises(InvalidInputError, match="info, warn, error"):
        Event("a.b", severity="fatal")


def test_a_time_without_zone_is_refused():
    with pytest.raises(InvalidInputError, match="time zone"):
        Event("a.b", timestamp=datetime(2026, 1, 1))


def test_the_json_form_is_in_utc():
    noon = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    event = Event("a.b", {"n": 1}, "x.y", "warn", noon, "0" * 32, "id")
    assert json.loads(event.to_json()) == {
        "event_id": "id",
        "type": "a.b",
        "severity": "warn",
        "timestamp": "2026-01-01T10:00:00Z",
        "module_id": "x.y",
        "trace_id": "0" * 32,
        "data": {"n": 1},
    }


def test_what_json_cannot_hold_is_written_as_text():
    data = {"when": datetime(2026, 1, 1), 2: {1}, "bad": float("nan")}
    assert json.loads(Event("a.b", data).to_json())["data"] == {"when": "2026-01-01T00:00:00", "2": [1], "bad": None}


def test_data_cannot_be_changed_by_a_subscriber_nor_by_who_gave_it():
    given = {"n": 1}
    event = Event("a.b", given)
    given["n"] = 2
    with pytest.raises(TypeError):
        event.data["n"] = 3
    assert event.data["n"] == 1


def test_two_events_differ_in_their_id():
    assert Event("a.b").event_id != Event("a.b").event_id


@pytest.mark.req("R-9.16.1-01")
@pytest.mark.parametrize("name", CORE_EVENTS)
def test_every_event_of_the_framework_is_named_by_its_rule(name):
    assert name.startswith("apcore.")
    assert core_event(name, payload_of(name)).type == name


@pytest.mark.parametrize("name", CORE_EVENTS)
def test_the_payload_has_exactly_the_keys_of_the_table(name):
    payload = payload_of(name)
    with pytest.raises(InvalidInputError, match="has the keys"):
        core_event(name, {**payload, "more": 1})
    payload.popitem()
    with pytest.raises(InvalidInputError, match="has the keys"):
        core_event(name, payload)


def test_an_event_that_the_framework_does_not_have_is_refused():
    with pytest.raises(InvalidInputError, match="has no event"):
        core_event("apcore.module.registered", {"module_id": "a.b"})


def test_a_severity_that_the_event_does_not_have_is_refused():
    with pytest.raises(InvalidInputError, match="is info or warn"):
        core_event("apcore.module.toggled", {"module_id": "a.b", "enabled": True}, severity="error")


def test_the_module_of_the_payload_is_the_module_of_the_event():
    event = core_event("apcore.health.recovered", {"module_id": "a.b", "error_rate": 0.0}, trace_id="1" * 32)
    assert (event.module_id, event.severity, event.trace_id) == ("a.b", "info", "1" * 32)


SPECIFIED = {
    "apcore.registry.module_registered": ({"info"}, {"module_id"}),
    "apcore.registry.module_unregistered": ({"info"}, {"module_id"}),
    "apcore.module.toggled": ({"info", "warn"}, {"module_id", "enabled"}),
    "apcore.module.reloaded": ({"info"}, {"module_id", "previous_version", "new_version"}),
    "apcore.config.updated": ({"info"}, {"key", "old_value", "new_value"}),
    "apcore.health.error_threshold_exceeded": ({"error"}, {"module_id", "error_rate", "threshold"}),
    "apcore.health.latency_threshold_exceeded": ({"warn"}, {"module_id", "p99_latency_ms", "threshold"}),
    "apcore.health.recovered": ({"info"}, {"module_id", "error_rate"}),
}
"""The table of §9.16.2."""


def test_the_canonical_events_are_those_of_the_specification():
    assert {name: (set(CORE_EVENTS[name].severities), set(CORE_EVENTS[name].keys)) for name in SPECIFIED} == SPECIFIED


@pytest.mark.req("R-9.16.2-09")
@pytest.mark.parametrize(
    "legacy",
    [
        "module_health_changed",
        "config_changed",
        "module_registered",
        "module_unregistered",
        "apcore.module.registered",
        "apcore.module.unregistered",
        "apcore.error.threshold_exceeded",
        "apcore.latency.threshold_exceeded",
    ],
)
def test_no_legacy_name_can_be_emitted(legacy):
    with pytest.raises(InvalidInputError):
        core_event(legacy, {"module_id": "a.b"})


@pytest.mark.parametrize(
    "fields",
    [
        {"type": None},
        {"type": 3},
        {"data": None},
        {"data": []},
        {"module_id": 3},
        {"trace_id": b"a"},
        {"timestamp": "2026-01-01"},
        {"timestamp": None},
    ],
    ids=str,
)
def test_a_field_of_another_type_is_refused_where_the_event_is_made(fields):
    with pytest.raises(InvalidInputError):
        Event(**{"type": "billing.x", **fields})


def test_an_event_keeps_what_its_data_was():
    rows = [{"id": 1}]
    data = {"rows": rows, "first": rows[0], "pair": (rows, 2)}
    event = Event("a.b", data)
    rows[0]["id"] = 2
    rows.append({"id": 3})
    data["more"] = 1
    assert dict(event.data) == {"rows": [{"id": 1}], "first": {"id": 1}, "pair": ([{"id": 1}], 2)}


def test_data_that_contains_itself_or_is_endlessly_deep_makes_an_event_too():
    ring = {}
    ring["left"] = ring["right"] = [ring]
    deep = []
    for _ in range(100_000):
        deep = [deep]
    event = Event("a.b", {"ring": ring})
    assert event.data["ring"]["left"][0] is event.data["ring"] is not ring
    assert json.loads(Event("a.b", {"deep": deep, "n": 1}).to_json())["data"]["n"] == 1
