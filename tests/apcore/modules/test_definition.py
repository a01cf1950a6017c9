import dataclasses

import pytest

from apcore.errors import SchemaValidationError
from apcore.modules import ModuleAnnotations, define_module, module


class Minimal:
    description = "Do the least"
    input_schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "array", "default": []}, "c": {"default": None}},
        "required": ["a"],
    }
    output_schema = {"type": "object", "properties": {"sum": {"type": "integer"}}}

    def execute(self, inputs, context):
        return dict(inputs)


def variant(**attributes):
    return type("Variant", (Minimal,), attributes)


def test_a_definition_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        define_module("a.b", Minimal).requires_approval = False


def test_validators_are_compiled_once():
    definition = define_module("a.b", Minimal)
    assert definition.input_validator is definition.input_validator
    assert definition.output_validator is definition.output_validator


@pytest.mark.req("R-4.2-05")
def test_inputs_that_are_not_declared_are_refused_and_outputs_are_not():
    definition = define_module("a.b", Minimal)
    with pytest.raises(SchemaValidationError):
        definition.input_validator.validate({"a": 1, "unknown": 1})
    definition.output_validator.validate({"sum": 1, "more": 1})


@pytest.mark.req("R-5.6-06")
def test_defaults_are_filled_in_without_touching_what_was_given():
    definition = define_module("a.b", Minimal)
    inputs = {"a": 1}
    assert definition.with_defaults(inputs) == {"a": 1, "b": [], "c": None}
    assert inputs == {"a": 1}


def test_inputs_that_need_no_defaults_are_passed_on_as_they_are():
    inputs = {"a": 1, "b": [1], "c": 2}
    assert define_module("a.b", Minimal).with_defaults(inputs) is inputs


def test_a_default_is_never_shared_between_calls():
    definition = define_module("a.b", Minimal)
    definition.with_defaults({"a": 1})["b"].append("leak")
    assert definition.with_defaults({"a": 1})["b"] == []


def test_the_content_hash_is_that_of_the_content():
    assert define_module("a.b", Minimal).content_hash == define_module("a.b", Minimal()).content_hash


@pytest.mark.parametrize(
    "other",
    [
        {"version": "1.0.1"},
        {"input_schema": {}},
        {"output_schema": {}},
        {"annotations": ModuleAnnotations(destructive=True)},
        {"effect": "transactional"},
    ],
)
def test_the_content_hash_changes_with_everything_an_approval_relies_on(other):
    assert define_module("a.b", variant(**other)).content_hash != define_module("a.b", variant()).content_hash


def test_the_content_hash_changes_with_the_id_and_not_with_the_words():
    plain = define_module("a.b", variant())
    assert define_module("a.c", variant()).content_hash != plain.content_hash
    assert define_module("a.b", variant(description="Other words", tags=["new"])).content_hash == plain.content_hash


def test_the_content_hash_changes_with_the_code(tmp_path, monkeypatch):
    code = "def price(a: int) -> dict:\n    return {'price': RATE * a}\n"
    monkeypatch.syspath_prepend(tmp_path)
    hashes = set()
    for name, rate in (("prices_one", 1), ("prices_two", 2)):
        (tmp_path / f"{name}.py").write_text(f"RATE = {rate}\n{code}")
        function = __import__(name).price
        function.__module__ = "prices"
        hashes.add(define_module("a.b", module(function, id="a.b")).content_hash)
    assert len(hashes) == 2
