import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.context import CancelToken, Context, Identity, is_trace_id
from apcore.errors import InvalidInputError
from tests.apcore.strategies import identities

IDS = st.from_regex(r"[a-z][a-z0-9_]{0,8}(\.[a-z][a-z0-9_]{0,8}){0,2}", fullmatch=True)


@pytest.mark.req("R-1.6-01", "R-5.7-03", "R-5.7-04")
def test_inside_a_module_the_chain_ends_with_itself() -> None:
    root = Context.create()
    inner = root.enter("a.one").enter("b.two").enter("c.three")
    assert inner.call_chain == ["a.one", "b.two", "c.three"]
    assert inner.caller_id == "b.two"
    assert root.enter("a.one").caller_id is None
    inner.call_chain.clear()
    assert (root.call_chain, inner.enter("d.four").call_chain) == ([], ["d.four"])


@pytest.mark.req("R-12.7.2-01", "R-12.7.2-02", "R-12.7.2-04")
def test_the_sample_of_shared_data_runs_as_it_is_printed() -> None:
    context1, context2 = Context(data={}), Context(data={})
    context1.data["key"] = "value"
    sub_context = context1.child("module_c")

    assert sub_context.data["key"] == "value"
    assert sub_context.data is context1.data
    assert context2.data == {}
    assert is_trace_id(context1.trace_id)
    assert sub_context.trace_id == context1.trace_id != context2.trace_id


def test_a_child_made_for_a_module_is_not_extended_twice() -> None:
    parent = Context.create().enter("a.one")
    child = parent.child("b.two")
    assert child.enter("b.two") is child
    assert child.enter("b.two").call_chain == ["a.one", "b.two", "b.two"]
    assert parent.child("b.two").enter("c.three").call_chain == ["a.one", "b.two", "c.three"]


def test_an_explicit_caller_is_kept_for_a_top_level_call() -> None:
    assert Context.create(caller_id="api.handler").enter("a.one").caller_id == "api.handler"


@pytest.mark.req("R-12.7.2-01", "R-12.7.2-02", "R-12.7.2-04", "R-5.7-07")
def test_data_is_shared_within_a_chain_and_isolated_between_chains() -> None:
    root, other = Context.create(), Context.create()
    child = root.enter("a.one")
    child.data["seen"] = True
    assert root.data == {"seen": True}
    assert other.data == {}


@pytest.mark.req("R-10.5-02", "R-12.7.2-03")
def test_children_inherit_trace_identity_services_and_deadline() -> None:
    root = Context.create(identity=Identity("7"), services={"db": object()}, cancel_token=CancelToken())
    root.deadline = 12.5
    child = root.enter("a.one")
    assert (child.trace_id, child.identity, child.services, child.deadline) == (
        root.trace_id,
        root.identity,
        root.services,
        12.5,
    )
    assert root.cancel_token is not None
    root.cancel_token.cancel()
    assert child.cancel_token is not None
    assert child.cancel_token.is_cancelled


@pytest.mark.req("R-5.7-13", "R-5.7-14", "R-5.7-16")
@given(st.lists(IDS), st.none() | identities, st.dictionaries(st.text(), st.integers() | st.text()))
def test_serialisation_round_trips(chain: list[str], identity: Identity | None, data: dict[str, object]) -> None:
    context = Context.create(identity=identity, call_chain=chain, data=dict(data))
    again = Context.deserialize(json.loads(json.dumps(context.serialize())))
    assert (again.trace_id, again.call_chain, again.identity) == (context.trace_id, chain, identity)
    assert again.data == {key: value for key, value in data.items() if not key.startswith("_")}


@pytest.mark.req("R-5.7-08")
def test_what_a_context_may_hold_besides_is_none_until_somebody_gives_it() -> None:
    fresh = Context.create()
    assert (fresh.cancel_token, fresh.services, fresh.redacted_inputs, fresh.identity) == (None, None, None, None)


@pytest.mark.req("R-5.7-15", "R-5.7-17")
def test_runtime_objects_never_travel(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    context = Context.create(executor=object(), services={"secret": 1}, cancel_token=CancelToken())
    context.data.update({"ok": 1, "_private": 2, "function": print, "nan": float("nan")})
    wire = context.serialize()
    assert set(wire) == {"_context_version", "trace_id", "caller_id", "call_chain", "identity", "data"}
    assert wire["data"] == {"ok": 1}
    assert "function" in caplog.text


@pytest.mark.req("R-5.7-14")
def test_what_travels_is_a_copy_in_json(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    identity = Identity("ada", attrs={"tenant": 1, "connection": object(), "ratio": float("nan")})
    context = Context.create(identity=identity, data={"list": [(1, 2)], "of": {1: "a"}, 5: "no name"})  # type: ignore[dict-item]  # what cannot travel
    wire = context.serialize()

    assert json.loads(json.dumps(wire, allow_nan=False)) == wire
    assert wire["identity"]["attrs"] == {"tenant": 1}
    assert wire["data"] == {"list": [[1, 2]], "of": {"1": "a"}}
    assert all(part in caplog.text for part in ("attrs['connection']", "attrs['ratio']", "data[5]"))
    wire["data"]["list"].append(3)
    assert context.data["list"] == [(1, 2)]


GOOD = {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736"}


@pytest.mark.req("R-5.7-13")
def test_what_travels_names_its_version_and_one_of_another_version_is_read_as_far_as_it_goes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    wire = Context.create(call_chain=["a.b"]).serialize()
    assert wire["_context_version"] == 1
    assert Context.deserialize(GOOD).trace_id == Context.deserialize({**GOOD, "_context_version": 1}).trace_id
    assert caplog.text == ""
    later = Context.deserialize({**wire, "_context_version": 2, "tenant": "acme"})
    assert later.call_chain == ["a.b"]
    assert "version 2" in caplog.text


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        (None, "an object"),
        ("x", "an object"),
        ({}, "trace_id"),
        ({"trace_id": "x"}, "trace_id"),
        ({"trace_id": None}, "trace_id"),
        ({**GOOD, "caller_id": 5}, "caller_id"),
        ({**GOOD, "call_chain": "a.b"}, "call_chain"),
        ({**GOOD, "call_chain": [1]}, "call_chain"),
        ({**GOOD, "identity": "ada"}, "identity"),
        ({**GOOD, "identity": {}}, "Identity"),
        ({**GOOD, "data": [1]}, "data"),
    ],
)
def test_what_is_no_serialised_context_is_refused(bad: Any, named: str) -> None:
    with pytest.raises(InvalidInputError, match=named):
        Context.deserialize(bad)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        *[("identity", each) for each in ("ada", {"id": "ada"}, Identity)],
        *[("caller_id", each) for each in (5, ["a.b"])],
        *[("call_chain", each) for each in ("a.b", 5, None, [1])],
        *[("data", each) for each in (5, [1], "x")],
        *[("cancel_token", each) for each in (5, CancelToken)],
        *[("services", each) for each in (5, "x")],
    ],
)
def test_what_a_context_cannot_be_made_of_is_refused_by_name(field: str, wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match=field):
        Context.create(**{field: wrong})


def test_progress_goes_to_whoever_watches() -> None:
    seen: list[tuple[int, int | None, str]] = []
    Context.create(services={"progress": lambda *report: seen.append(report)}).report_progress(3, 10, "tracks")
    Context.create().report_progress(1)
    assert seen == [(3, 10, "tracks")]


def test_a_rehearsal_keeps_its_data_to_itself() -> None:
    context = Context.create(data={"a": 1}).enter("m.one")
    rehearsal = context.rehearsal()
    rehearsal.data["a"] = 2
    assert context.data == {"a": 1}
    assert rehearsal.call_chain == context.call_chain


@pytest.mark.req("R-5.7-18")
def test_redacted_inputs_do_not_travel() -> None:
    context = Context.create()
    assert context.redacted_inputs is None
    context.settle_inputs({"pin": "1"}, {"type": "object"}, ())
    assert context.redacted_inputs == {"pin": "1"}
    assert "redacted_inputs" not in context.serialize()
    assert Context.deserialize(context.serialize()).redacted_inputs is None
