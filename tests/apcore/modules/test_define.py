from dataclasses import dataclass

import pytest
from pydantic import BaseModel, ConfigDict, Field, computed_field

from apcore.errors import ModuleLoadError, SchemaParseError
from apcore.modules import Module, ModuleAnnotations, ModuleExample, PreviewResult, define_module, describe, module

INPUT = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 7}}}


class Minimal:
    description = "Do the least"
    input_schema = INPUT
    output_schema = {"type": "object"}

    def execute(self, inputs, context):
        return dict(inputs)


def variant(**attributes):
    return type("Variant", (Minimal,), attributes)


class DbParamsInput(BaseModel):
    table: str = Field(..., pattern=r"^[a-z][a-z0-9_]*$")
    sql: str
    timeout: int = Field(default=30, ge=1, le=300)


class DbParamsOutput(BaseModel):
    valid: bool
    message: str | None = None
    errors: list[dict] = []
    warnings: list[str] = []


class DbParamsValidator(Module):
    """Database parameter validator"""

    input_schema = DbParamsInput
    output_schema = DbParamsOutput
    annotations = ModuleAnnotations(readonly=True, idempotent=True, open_world=False)
    examples = [
        ModuleExample(
            title="Validate safe SQL",
            inputs={"table": "user_info", "sql": "SELECT * FROM user_info"},
            output={"valid": True, "message": "Validation passed", "errors": [], "warnings": []},
        )
    ]

    def execute(self, inputs, context):
        params = DbParamsInput(**inputs)
        errors = [{"code": "DANGEROUS_SQL"} for keyword in ("DROP", "DELETE") if keyword in params.sql.upper()]
        return DbParamsOutput(valid=not errors, errors=errors).model_dump()


@pytest.mark.req("R-5.6-03", "R-5.6-04", "R-4.1-01", "R-4.8.2-01")
@pytest.mark.parametrize("part", ["execute", "description", "input_schema", "output_schema"])
def test_a_missing_part_is_refused_by_name(part):
    with pytest.raises(ModuleLoadError, match=f"'a.b' has no {part}") as caught:
        define_module("a.b", variant(**{part: None}))
    assert caught.value.details["missing"] == [part]
    assert caught.value.module_id == "a.b"


@pytest.mark.req("R-5.6-04")
def test_all_missing_parts_are_named_at_once():
    with pytest.raises(ModuleLoadError, match="no execute, description, input_schema, output_schema"):
        define_module("a.b", type("Empty", (Module,), {}))


@pytest.mark.parametrize(
    ("attribute", "value", "problem"),
    [
        ("annotations", {"readonly": "yes"}, "readonly"),
        ("annotations", ["readonly"], "annotations must be"),
        ("examples", [{"title": "No inputs"}], "inputs"),
        ("examples", ["text"], "examples must be a list"),
        ("metadata", ["x"], "metadata must be a mapping"),
        ("tags", "text", "tags must be a list"),
        ("tags", [1], "tags must be a list"),
        ("allowed_callers", "api.*", "allowed_callers must be a list"),
        ("version", 2, "version must be text"),
        ("version", "draft", "version: 'draft' is not a version like 1.2.3"),
        ("examples", [{"title": "t", "inputs": [1]}], "inputs of an example must be a mapping"),
        ("examples", [{"inputs": {}}], "an example has title and inputs"),
        ("name", 2, "name must be text"),
        ("description", ["text"], "description must be text"),
        ("documentation", 2, "documentation must be text"),
        ("effect", "measured", "effect must be 'transactional'"),
        ("timeout_ms", 0, "timeout_ms must be a positive"),
        ("timeout_ms", "30", "timeout_ms must be a positive"),
        ("timeout_ms", True, "timeout_ms must be a positive"),
    ],
)
def test_a_part_of_the_wrong_kind_is_refused_by_name(attribute, value, problem):
    with pytest.raises(ModuleLoadError, match=problem) as caught:
        define_module("a.b", variant(**{attribute: value}))
    assert caught.value.message.startswith("Module 'a.b': ")


@pytest.mark.parametrize("schema", [{"type": 5}, {"properties": []}])
@pytest.mark.parametrize("part", ["input_schema", "output_schema"])
def test_a_schema_that_is_none_is_refused(part, schema):
    with pytest.raises(SchemaParseError):
        define_module("a.b", variant(**{part: schema}))


PARTS = ["annotations", "allowed_callers", "tags", "dependencies", "metadata", "timeout_ms", "input_schema", "preview"]


@pytest.mark.parametrize("error", [AttributeError("no connection"), KeyError("no connection")])
@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_cannot_be_read_is_no_part_that_is_absent(part, error):
    def fail(self):
        raise error

    with pytest.raises(ModuleLoadError, match=f"^Module 'a.b': {part} raised {type(error).__name__}: .*no connection"):
        define_module("a.b", variant(**{part: property(fail)}))


def test_a_property_may_give_none():
    assert define_module("a.b", variant(tags=property(lambda self: None))).tags == ()


@pytest.mark.req("R-4.4-14")
def test_annotations_of_none_are_all_defaults():
    definition = define_module("a.b", variant(annotations=None))
    assert definition.annotations == ModuleAnnotations()
    assert describe(definition).annotations == ModuleAnnotations()


def test_an_output_model_is_described_as_it_is_written():
    class Total(BaseModel):
        model_config = ConfigDict(extra="forbid")
        net: int

        @computed_field
        def gross(self) -> int:
            return self.net * 2

    definition = define_module("a.b", variant(input_schema=Total, output_schema=Total))

    assert definition.output_validator.is_valid(Total(net=1).model_dump())
    assert not definition.input_validator.is_valid({"net": 1, "gross": 2})


def test_a_class_that_cannot_be_made_is_refused_with_its_reason():
    def init(self, connection):
        pass

    with pytest.raises(ModuleLoadError, match=r"Variant\(\) raised TypeError.*connection") as caught:
        define_module("a.b", variant(__init__=init))
    assert isinstance(caught.value.cause, TypeError)


def test_a_bare_function_is_refused_with_advice():
    def f(a: int) -> dict: ...

    with pytest.raises(ModuleLoadError) as caught:
        define_module("a.b", f)
    assert "module(function)" in caught.value.suggestion


@pytest.mark.req("R-5.6-02", "R-5.6-07", "R-4.5-03", "R-4.4-14")
def test_a_plain_class_has_all_the_defaults():
    definition = define_module("a.b", Minimal)
    assert isinstance(definition.module, Minimal)
    assert definition.name == "Minimal"
    assert definition.annotations == ModuleAnnotations()
    assert (definition.tags, definition.version, definition.examples, definition.metadata) == ((), "1.0.0", (), {})
    assert (definition.documentation, definition.timeout_ms, definition.allowed_callers) == (None, None, None)
    assert (definition.effect, definition.requires_approval, definition.is_async) == ("none", False, False)
    assert (definition.preflight, definition.preview, definition.plan, definition.apply) == (None, None, None, None)


def test_an_instance_is_taken_as_it_is():
    instance = Minimal()
    assert define_module("a.b", instance).module is instance


@pytest.mark.req("R-5.6-01", "R-5.11.10-01")
def test_function_and_class_give_the_same_contract():
    def execute(a: int, b: int = 7) -> dict:
        """Do the least"""
        return {"a": a, "b": b}

    by_function = define_module("a.b", module(execute, id="a.b"))
    by_class = define_module("a.b", Minimal)
    assert by_function.description == by_class.description
    assert by_function.input_defaults == by_class.input_defaults
    for inputs, fits in (({"a": 1}, True), ({"a": "1"}, False), ({"a": 1, "c": 1}, False)):
        assert by_function.input_validator.is_valid(inputs) is by_class.input_validator.is_valid(inputs) is fits


@pytest.mark.req("R-5.6-05", "R-5.10-01")
def test_the_class_of_the_specification_works(caplog):
    definition = define_module("executor.validator.db_params", DbParamsValidator)
    assert definition.description == "Database parameter validator"
    assert "has no description" in caplog.text
    assert definition.input_schema["properties"]["table"]["pattern"] == r"^[a-z][a-z0-9_]*$"
    inputs = definition.with_defaults({"table": "users", "sql": "DROP TABLE users"})
    definition.input_validator.validate(inputs)
    output = definition.execute(inputs, None)
    definition.output_validator.validate(output)
    assert (output["valid"], output["errors"]) == (False, [{"code": "DANGEROUS_SQL"}])


@pytest.mark.req("R-4.8.4-01")
def test_a_docstring_does_not_replace_a_description(caplog):
    definition = define_module("a.b", variant(__doc__="For developers.", documentation="# For models"))
    assert (definition.description, definition.documentation) == ("Do the least", "# For models")
    assert not caplog.records


@pytest.mark.req("R-4.8.2-01", "R-4.8.5-01")
def test_a_description_of_200_characters_is_fine(caplog):
    definition = define_module("a.b", variant(description="d" * 200))
    assert (definition.description, definition.documentation) == ("d" * 200, None)
    assert not caplog.records


@pytest.mark.req("R-4.8.2-01", "R-4.8.5-02")
def test_a_longer_one_is_kept_with_a_warning(caplog):
    assert define_module("a.b", variant(description="d" * 201)).description == "d" * 201
    assert "'documentation'" in caplog.text


@pytest.mark.req("R-4.8.2-02")
def test_a_description_of_four_lines_is_accepted():
    assert define_module("a.b", variant(description="1\n2\n3\n4")).description == "1\n2\n3\n4"


@pytest.mark.req("R-4.8.3-01")
def test_documentation_over_5000_characters_gives_a_warning(caplog):
    define_module("a.b", variant(documentation="d" * 5000))
    assert not caplog.records
    define_module("a.b", variant(documentation="d" * 5001))
    assert "documentation exceeds 5000" in caplog.text


@pytest.mark.req("R-4.5-02")
def test_an_example_that_does_not_fit_gives_a_warning(caplog):
    define_module(
        "a.b", variant(examples=[{"title": "Good", "inputs": {"a": 1}}, {"title": "Bad", "inputs": {"a": "x"}}])
    )
    assert [record.args for record in caplog.records] == [("a.b", "Bad")]


@pytest.mark.req("R-4.5-02")
def test_an_example_with_another_output_than_declared_gives_a_warning(caplog):
    output_schema = {"type": "object", "required": ["n"]}
    examples = [{"title": "Good", "inputs": {}, "output": {"n": 1}}, {"title": "Bad", "inputs": {}, "output": {}}]
    define_module("a.b", variant(output_schema=output_schema, examples=examples))
    assert [record.getMessage() for record in caplog.records] == ["Module 'a.b': output of example 'Bad' does not fit"]


@pytest.mark.req("R-4.6-01", "R-4.6-05", "PV-23")
def test_metadata_is_free_and_nothing_is_added():
    metadata = {"x-reasoning-demand": "enormous", "nested": {"any": [1, {"thing": None}]}}
    preview = {"preview": lambda self, inputs, context: None}
    assert define_module("a.b", variant(metadata=metadata, **preview)).metadata == metadata


@pytest.mark.req("R-4.6-02")
def test_metadata_takes_no_part_in_a_call():
    plain, told = define_module("a.b", variant()), define_module("a.b", variant(metadata={"x-output-source": "cached"}))
    assert plain.execute({"a": 1}, None) == told.execute({"a": 1}, None)
    assert plain.content_hash == told.content_hash


def test_annotations_and_examples_may_be_plain_mappings():
    definition = define_module(
        "a.b", variant(annotations={"requires_approval": True}, examples=[{"title": "t", "inputs": {}}])
    )
    assert definition.annotations == ModuleAnnotations(requires_approval=True)
    assert definition.requires_approval is True
    assert definition.examples == (ModuleExample("t", {}),)


@pytest.mark.req("PV-01", "PV-09")
@pytest.mark.parametrize(
    ("attributes", "effect"),
    [
        ({}, "none"),
        ({"preview": 5}, "none"),
        ({"preview": lambda self, inputs, context: PreviewResult([])}, "declared"),
        ({"preview": lambda self, inputs, context: None, "effect": "transactional"}, "transactional"),
        ({"effect": "transactional"}, "transactional"),
        ({"plan": lambda self, inputs, context: None}, "none"),
    ],
)
def test_how_the_effect_can_be_known(attributes, effect):
    definition = define_module("a.b", variant(**attributes))
    assert definition.effect == effect
    assert (definition.preview is not None) is callable(attributes.get("preview"))


def test_an_async_execute_is_recognised():
    async def execute(self, inputs, context): ...

    assert define_module("a.b", variant(execute=execute)).is_async


def test_a_dataclass_can_be_a_module():
    @dataclass
    class Configured(Minimal):
        rate: float = 1.5

    assert define_module("a.b", Configured).module.rate == 1.5
    assert define_module("a.b", Configured(rate=2)).module.rate == 2
