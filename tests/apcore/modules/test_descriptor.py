import json

import pytest
from pydantic import BaseModel

from apcore.modules import ModuleAnnotations, ModuleExample, define_module, describe

CONVENTIONS = {
    "x-when-to-use": "…",
    "x-when-not-to-use": "…",
    "x-common-mistakes": ["…"],
    "x-workflow-hints": {"before": "a.b"},
    "x-preconditions": [],
    "x-postconditions": [],
    "x-side-effects": [],
    "x-cost-per-call": 0.1,
    "x-avg-latency-ms": 5,
    "x-max-latency-ms": 50,
    "x-sla": "99.9",
    "x-output-source": "database",
    "x-verification-hint": "…",
    "x-reasoning-demand": "low",
    "x-required-context-keys": ["tenant"],
    "x-supports-dry-run": True,
}


class Inputs(BaseModel):
    a: int


class Full:
    name = "Full"
    description = "Says everything"
    documentation = "# Everything"
    input_schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    output_schema = {"type": "object"}
    annotations = ModuleAnnotations(readonly=True)
    examples = [ModuleExample("One", {"a": 1})]
    tags = ["complete"]
    version = "3.0.0"
    metadata = CONVENTIONS

    def execute(self, inputs, context):
        return {}


@pytest.mark.req("R-12.2-10", "R-4.6-01", "R-4.6-04")
def test_everything_that_was_said_is_described():
    description = describe(define_module("a.b", Full))
    for part in ("name", "description", "documentation", "annotations", "version", "metadata"):
        assert getattr(description, part) == getattr(Full, part)
    assert json.loads(json.dumps(description.to_dict())) == {
        "module_id": "a.b",
        "name": "Full",
        "description": "Says everything",
        "documentation": "# Everything",
        "input_schema": Full.input_schema,
        "output_schema": Full.output_schema,
        "annotations": Full.annotations.to_dict(),
        "examples": [{"title": "One", "inputs": {"a": 1}}],
        "tags": ["complete"],
        "version": "3.0.0",
        "metadata": CONVENTIONS,
    }


def test_the_three_layers_hold_every_part_once():
    description = describe(define_module("a.b", Full))
    layers = description.layers()

    assert list(layers) == ["core", "annotation", "extension"]
    assert layers["core"] == {
        "input_schema": Full.input_schema,
        "output_schema": Full.output_schema,
        "description": "Says everything",
    }
    assert layers["extension"] == {"metadata": CONVENTIONS}
    parts = [name for layer in layers.values() for name in layer]
    assert sorted([*parts, "module_id", "documentation"]) == sorted(description.to_dict())


@pytest.mark.req("R-5.6-09")
def test_a_module_may_describe_itself():
    class Own(Full):
        def describe(self):
            return {
                "description": "In its own words",
                "annotations": {"destructive": True},
                "examples": [{"title": "Two", "inputs": {"a": 2}}],
            }

    description = describe(define_module("a.b", Own))
    assert description.description == "In its own words"
    assert description.annotations == ModuleAnnotations(destructive=True)
    assert description.examples == [ModuleExample("Two", {"a": 2})]
    assert description.input_schema == Full.input_schema


@pytest.mark.parametrize(
    "said",
    ["text", None, {"annotations": {"readonly": "yes"}}, {"examples": [{"inputs": {}}]}, {"input_schema": 7}],
)
def test_a_describe_that_does_not_describe_is_logged_and_not_heard(said, caplog):
    class Own(Full):
        def describe(self):
            return said

    description = describe(define_module("a.b", Own))

    assert description == describe(define_module("a.b", Full))
    assert ["describe() of module 'a.b'" in each.message for each in caplog.records] == [True]


def test_a_module_may_describe_its_inputs_with_a_model():
    class Own(Full):
        def describe(self):
            return {"input_schema": Inputs}

    assert describe(define_module("a.b", Own)).input_schema["properties"] == {"a": {"type": "integer"}}


def test_a_module_cannot_describe_itself_as_another_one():
    class Impostor(Full):
        def describe(self):
            return {"module_id": "system.control", "version": "9.9.9", "unknown": 1}

    description = describe(define_module("a.b", Impostor))
    assert (description.module_id, description.version) == ("a.b", "3.0.0")
