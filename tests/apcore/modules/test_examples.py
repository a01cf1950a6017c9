import pytest

from apcore.modules import ModuleExample


@pytest.mark.req("R-4.5-01")
@pytest.mark.parametrize("fields", [{"title": "t"}, {"inputs": {}}, {"title": "t", "inputs": {}, "outputs": {}}])
def test_missing_and_unknown_fields_are_refused(fields):
    with pytest.raises(TypeError):
        ModuleExample.from_dict(fields)


@pytest.mark.req("R-4.5-01")
def test_title_and_inputs_are_enough():
    example = ModuleExample(title="Add", inputs={"a": 1})
    assert (example.description, example.output) == (None, None)
    assert example.to_dict() == {"title": "Add", "inputs": {"a": 1}}


def test_the_wire_form_survives_a_round_trip():
    wire = {"title": "Add", "inputs": {"a": 1}, "description": "One and nothing", "output": {"sum": 1}}
    assert ModuleExample.from_dict(wire).to_dict() == wire
