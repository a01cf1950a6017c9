import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.modules import ModuleAnnotations, merge_annotations
from apcore.modules.annotations import FIELD_NAMES, PROMOTED_EXTRA_KEYS

DEFAULTS = {
    "readonly": False,
    "destructive": False,
    "idempotent": False,
    "requires_approval": False,
    "discoverable": True,
    "open_world": True,
    "streaming": False,
    "cacheable": False,
    "cache_ttl": 0,
    "cache_key_fields": None,
    "paginated": False,
    "pagination_style": "cursor",
    "extra": {},
}
BOOLEANS = [name for name, default in DEFAULTS.items() if isinstance(default, bool)]

extension_keys = st.text(min_size=1, max_size=12).filter(lambda key: key not in FIELD_NAMES)
json_values = (
    st.none() | st.booleans() | st.integers() | st.text() | st.dictionaries(st.text(), st.integers(), max_size=2)
)
field_values = {
    **{name: st.booleans() for name in BOOLEANS},
    "cache_ttl": st.integers(min_value=0, max_value=10**6),
    "cache_key_fields": st.none() | st.lists(st.text(), max_size=3),
    "pagination_style": st.text(),
}
given_fields = st.fixed_dictionaries({}, optional=field_values)
extras = st.dictionaries(extension_keys, json_values, max_size=4)


@pytest.mark.parametrize("field", BOOLEANS)
@pytest.mark.parametrize("wrong", ["false", 1, None])
def test_a_switch_that_is_no_boolean_is_refused(field, wrong):
    with pytest.raises(TypeError, match=field):
        ModuleAnnotations.from_dict({field: wrong})


@pytest.mark.parametrize(
    "wrong",
    [
        {"cache_ttl": "10"},
        {"cache_ttl": True},
        {"cache_key_fields": "id"},
        {"cache_key_fields": [1]},
        {"pagination_style": None},
        {"extra": ["a"]},
        {"extra": {1: "a"}},
    ],
)
def test_other_values_of_the_wrong_type_are_refused(wrong):
    with pytest.raises(TypeError, match=next(iter(wrong))):
        ModuleAnnotations.from_dict(wrong)


@pytest.mark.parametrize("wrong", ["readonly", None, ["readonly"]])
def test_what_is_no_mapping_is_refused(wrong):
    with pytest.raises(TypeError, match="must be a mapping"):
        ModuleAnnotations.from_dict(wrong)


def test_the_refusal_says_what_is_expected():
    with pytest.raises(TypeError, match="'readonly' is bool, and has the wrong type str"):
        ModuleAnnotations(readonly="yes")
    with pytest.raises(TypeError, match="'cache_key_fields' is list or tuple"):
        ModuleAnnotations(cache_key_fields="id")


@pytest.mark.req(
    "R-4.4-01", "R-4.4-02", "R-4.4-03", "R-4.4-04", "R-4.4-05", "R-4.4-06", "R-4.4-07", "R-4.4-08", "R-4.4-09"
)
@pytest.mark.req("R-4.4-10", "R-4.4-11", "R-4.4-14", "R-4.4.1-04", "R-4.4.1-15")
def test_every_field_has_its_default_and_its_name_on_the_wire():
    assert ModuleAnnotations().to_dict() == DEFAULTS
    assert ModuleAnnotations.from_dict({}) == ModuleAnnotations()


@pytest.mark.req("R-4.4-02", "R-4.4-03", "R-4.4-05", "R-4.4-06", "R-4.4-08", "R-4.4-09", "R-4.4-10")
@pytest.mark.req("R-4.4.1-01", "R-4.4.1-02", "R-4.4.1-03", "R-4.4.1-05", "R-4.4.1-12")
@given(fields=given_fields, extra=extras)
def test_the_wire_form_survives_a_round_trip(fields, extra):
    wire = json.loads(json.dumps(ModuleAnnotations(**fields, extra=extra).to_dict()))
    assert wire == {**DEFAULTS, **fields, "extra": extra}
    assert ModuleAnnotations.from_dict(wire).to_dict() == wire


@pytest.mark.req("R-4.4.1-03", "R-4.4.1-06", "R-4.4.1-07", "R-4.4.1-08", "R-4.4-15")
@given(fields=given_fields, overflow=extras, nested=extras)
def test_unknown_keys_at_the_root_move_into_extra_where_nested_ones_win(fields, overflow, nested):
    read = ModuleAnnotations.from_dict({**overflow, **fields, "extra": nested})
    assert read == ModuleAnnotations(**fields, extra={**overflow, **nested})
    assert set(read.to_dict()) == set(DEFAULTS)


@pytest.mark.req("R-4.4.1-08")
def test_the_nested_value_wins_over_the_one_at_the_root():
    assert ModuleAnnotations.from_dict({"k.a": 1, "extra": {"k.a": 2}}).extra == {"k.a": 2}


@pytest.mark.req("R-4.4.1-09")
def test_an_absent_or_null_extra_is_empty():
    assert ModuleAnnotations.from_dict({"extra": None}).extra == {}
    assert ModuleAnnotations.from_dict({}).extra == {}


@pytest.mark.req("R-4.4.1-12")
@pytest.mark.parametrize("extra", [{"a.b.c": 1}, {"a": {"b": 1}}])
def test_dots_in_keys_mean_nothing(extra):
    assert ModuleAnnotations.from_dict({"extra": extra}).to_dict()["extra"] == extra


@pytest.mark.req("R-4.4.1-13")
def test_an_extra_key_named_like_a_field_loses_with_a_warning(caplog):
    read = ModuleAnnotations.from_dict({"readonly": True, "extra": {"readonly": False, "mcp.category": "tools"}})
    assert read.readonly is True
    assert read.extra == {"mcp.category": "tools"}
    assert len(caplog.records) == 1
    assert "readonly" in caplog.text


@pytest.mark.req("R-4.4.1-11")
def test_the_reserved_namespace_gives_a_warning(caplog):
    ModuleAnnotations(extra={"core.x": 1})
    assert "core.x" in caplog.text


@pytest.mark.req("R-4.4.1-10")
def test_a_key_without_a_namespace_is_accepted(caplog):
    assert ModuleAnnotations(extra={"plain": 1}).extra == {"plain": 1}
    assert not caplog.records


@pytest.mark.req("R-4.4.1-14")
def test_a_promoted_extra_key_is_still_read(monkeypatch):
    monkeypatch.setitem(PROMOTED_EXTRA_KEYS, "acme.read_only", "readonly")
    assert ModuleAnnotations.from_dict({"extra": {"acme.read_only": True}}).readonly is True
    assert ModuleAnnotations.from_dict({"readonly": False, "extra": {"acme.read_only": True}}).readonly is False


@pytest.mark.req("R-4.4-11")
def test_instances_share_nothing_with_each_other_or_their_author():
    given_extra = {"a.b": 1}
    first, second = ModuleAnnotations(), ModuleAnnotations(extra=given_extra)
    given_extra["c.d"] = 2
    assert first.extra is not ModuleAnnotations().extra
    assert second.extra == {"a.b": 1}
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.readonly = True


@pytest.mark.req("R-4.13-01", "R-4.13-02")
@given(yaml=given_fields, code=given_fields, yaml_extra=extras, code_extra=extras)
def test_metadata_files_win_field_by_field_over_code_over_defaults(yaml, code, yaml_extra, code_extra):
    merged = merge_annotations({**yaml, "extra": yaml_extra}, ModuleAnnotations(**code, extra=code_extra))
    assert merged.to_dict() == {**DEFAULTS, **code, **yaml, "extra": {**code_extra, **yaml_extra}}


@pytest.mark.req("R-4.13-02")
def test_a_side_that_says_nothing_changes_nothing():
    code = ModuleAnnotations(idempotent=True, readonly=False)
    assert merge_annotations({"readonly": True}, code) == ModuleAnnotations(idempotent=True, readonly=True)
    assert merge_annotations(None, code) == code
    assert merge_annotations(None, {"readonly": True}) == ModuleAnnotations(readonly=True)
    assert merge_annotations(None, None) == ModuleAnnotations()
