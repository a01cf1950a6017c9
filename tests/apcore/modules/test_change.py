import copy
import dataclasses
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.modules import UNSET, Change, PreviewResult

REQUIRED = {"action": "delete", "target": "users.42", "summary": "Permanently delete user 42"}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
extension_keys = st.text(max_size=8).map(lambda text: f"x-{text}")
wire_changes = st.builds(
    lambda required, snapshots, extras: required | snapshots | extras,
    st.fixed_dictionaries(
        {"action": st.text(), "target": st.text(), "summary": st.from_regex(r"[^\n]*", fullmatch=True)}
    ),
    st.fixed_dictionaries({}, optional={"before": json_values, "after": json_values}),
    st.dictionaries(extension_keys, json_values, max_size=3),
)


@pytest.mark.req("PV-12")
@pytest.mark.parametrize("missing", REQUIRED)
def test_a_change_without_a_required_field_is_refused(missing):
    with pytest.raises(TypeError, match=missing):
        Change.from_dict({name: text for name, text in REQUIRED.items() if name != missing})


@pytest.mark.req("PV-12")
@pytest.mark.parametrize("field", REQUIRED)
def test_a_required_field_that_is_not_text_is_refused(field):
    with pytest.raises(TypeError, match=f"{field} must be text"):
        Change.from_dict(REQUIRED | {field: 5})


@pytest.mark.req("PV-15")
@pytest.mark.parametrize("key", ["foo", "X-foo", "x_foo", "xfoo", ""])
def test_a_key_that_is_neither_declared_nor_an_extension_is_refused(key):
    with pytest.raises(TypeError, match="has no field"):
        Change.from_dict(REQUIRED | {key: 1})


@pytest.mark.req("PV-14", "PV-16", "PV-17")
@given(wire=wire_changes)
def test_the_wire_form_survives_a_round_trip_identically(wire):
    text = json.dumps(wire, sort_keys=True)
    change = Change.from_dict(json.loads(text))
    assert json.dumps(change.to_dict(), sort_keys=True) == text
    assert Change.from_dict(change.to_dict()) == change


@pytest.mark.req("PV-13", "PV-17")
def test_snapshots_that_were_not_given_are_left_out_and_null_is_a_snapshot():
    assert Change(**REQUIRED).to_dict() == REQUIRED
    assert Change(**REQUIRED).before is UNSET
    assert Change(**REQUIRED, before=None).to_dict() == REQUIRED | {"before": None}
    assert Change(**REQUIRED, before=None) != Change(**REQUIRED)


@pytest.mark.req("PV-14")
def test_extension_fields_take_any_value():
    change = Change(**REQUIRED, **{"x-kind": "auth.User", "x-more": {"a": [1]}})
    assert change.extras == {"x-kind": "auth.User", "x-more": {"a": [1]}}


@pytest.mark.req("PV-18")
def test_action_and_target_are_free_text():
    change = Change(action="frobnicate", target="anything goes", summary="s")
    assert (change.action, change.target) == ("frobnicate", "anything goes")


@pytest.mark.req("PV-19")
def test_a_summary_of_several_lines_is_kept_with_a_warning(caplog):
    assert Change("send", "mail", "one\ntwo").summary == "one\ntwo"
    assert "single line" in caplog.text


def test_a_change_cannot_be_changed():
    with pytest.raises(AttributeError):
        Change(**REQUIRED).action = "insert"


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda change: pickle.loads(pickle.dumps(change))])
def test_unset_stays_unset_in_copies(copied):
    change = copied(Change(**REQUIRED))
    assert change == Change(**REQUIRED)
    assert change.after is UNSET


@pytest.mark.req("PV-11")
def test_a_preview_wraps_a_list_of_changes():
    change = Change(**REQUIRED)
    preview = PreviewResult(changes=[change])
    assert preview.changes == [change]
    assert PreviewResult.from_dict(preview.to_dict()) == preview


@pytest.mark.req("PV-24")
@pytest.mark.parametrize("items", [[REQUIRED], [Change(**REQUIRED), None]])
def test_a_preview_of_anything_else_is_refused(items):
    with pytest.raises(TypeError, match="expected a Change"):
        PreviewResult(changes=items)


def test_a_change_is_copied_pickled_and_taken_apart_as_other_data_classes_are():
    change = Change("update", "store.Track:1", "Rename", before="a", **{"x-alias": "default", "x-tags": ["a"]})
    copied = copy.deepcopy(change)
    assert copied == change == pickle.loads(pickle.dumps(change))
    copied.extras["x-tags"].append("b")
    assert change.extras == {"x-alias": "default", "x-tags": ["a"]}
    assert dataclasses.asdict(change)["extras"] == json.loads(json.dumps(change.extras)) == change.extras
