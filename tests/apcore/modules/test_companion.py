import asyncio
import datetime as dt

import pytest

from apcore.errors import ModuleLoadError
from apcore.modules import Companion, Dependency, Deprecation, ModuleAnnotations, ResourceLimits, define_module
from apcore.schema import SchemaLoader


class Plain:
    """What the docstring says"""

    description = "What the code says"
    input_schema = {"type": "object", "properties": {"native": {"type": "string"}}}
    output_schema = {"type": "object"}
    tags = ["code"]
    version = "1.0.0"
    annotations = ModuleAnnotations(readonly=True, idempotent=True)
    metadata = {"owner": "code", "team": "code"}
    allowed_callers = ["code.*"]

    def execute(self, inputs, context):
        return {}


def without(*names):
    kept = {name: value for name, value in vars(Plain).items() if name not in {*names, "__dict__", "__weakref__"}}
    return type("Without", (), kept)


@pytest.mark.req("R-5.2-07", "R-5.2-11", "R-5.5-02")
def test_the_file_wins_over_the_code_and_mappings_are_merged():
    companion = Companion(
        documentation="In full",
        tags=("file",),
        version="2.0.0",
        annotations={"readonly": False},
        metadata={"owner": "file"},
        allowed_callers=("file.*",),
        dependencies=(Dependency("a.b"),),
        examples=({"title": "One", "inputs": {}},),
        resources=ResourceLimits(timeout_ms=50),
    )

    definition = define_module("a.c", Plain, companion)

    assert (definition.documentation, definition.tags, definition.version) == ("In full", ("file",), "2.0.0")
    assert (definition.annotations.readonly, definition.annotations.idempotent) == (False, True)
    assert definition.metadata == {"owner": "file", "team": "code"}
    assert definition.allowed_callers == ("file.*",)
    assert definition.dependencies == (Dependency("a.b"),)
    assert [each.title for each in definition.examples] == ["One"]
    assert definition.timeout_ms == 50


@pytest.mark.req("R-5.6-04", "R-5.10-01")
def test_the_description_is_looked_for_in_the_code_first(tmp_path):
    (tmp_path / "a.c.schema.yaml").write_text("description: What the schema says\ninput_schema: {type: object}\n")
    schemas = SchemaLoader(tmp_path)
    companion = Companion(description="What the file says")

    assert define_module("a.c", Plain, companion, schemas).description == "What the code says"
    assert define_module("a.c", without("description"), companion, schemas).description == "What the file says"
    assert define_module("a.c", without("description"), schemas=schemas).description == "What the schema says"
    assert define_module("a.c", without("description")).description == "What the docstring says"


@pytest.mark.req("R-5.6-04", "R-5.1-01")
def test_a_schema_file_gives_what_the_code_leaves_out(tmp_path):
    (tmp_path / "a.c.schema.yaml").write_text(
        "input_schema: {type: object, properties: {yaml: {type: string}}}\noutput_schema: {type: object}\n"
    )

    definition = define_module("a.c", without("input_schema", "output_schema"), schemas=SchemaLoader(tmp_path))

    assert list(definition.input_schema["properties"]) == ["yaml"]
    with pytest.raises(ModuleLoadError, match="input_schema"):
        define_module("a.d", without("input_schema"), schemas=SchemaLoader(tmp_path))


@pytest.mark.req("R-5.2-10")
def test_a_deprecated_module_says_so_at_each_use(caplog):
    deprecation = Deprecation("Too slow", "a.d", dt.date(2026, 6, 1))

    definition = define_module("a.c", Plain, Companion(deprecation=deprecation))
    assert caplog.records == []
    assert definition.execute({}, None) == {}

    [record] = caplog.records
    assert record.levelname == "WARNING"
    assert record.message == "Module 'a.c' is deprecated; Too slow; use 'a.d'; it may be gone after 2026-06-01"
    assert definition.metadata["deprecated"] is True
    assert definition.metadata["deprecated_message"] == "Too slow"
    assert definition.metadata["replacement"] == "a.d"
    assert definition.metadata["sunset_date"] == "2026-06-01"


@pytest.mark.req("R-5.2-10")
def test_an_async_module_stays_async_when_it_is_deprecated(caplog):
    class Later(Plain):
        async def execute(self, inputs, context):
            return {"later": True}

    definition = define_module("a.c", Later, Companion(deprecation=Deprecation()))

    assert definition.is_async
    assert asyncio.run(definition.execute({}, None)) == {"later": True}
    assert [each.message for each in caplog.records] == ["Module 'a.c' is deprecated"]


def test_a_module_that_is_not_deprecated_has_its_own_execute():
    definition = define_module("a.c", Plain)

    assert definition.execute == definition.module.execute
    assert "deprecated" not in definition.metadata


@pytest.mark.req("R-5.6-08")
def test_a_module_may_check_inputs_itself():
    class Checking(Plain):
        def validate(self, inputs):
            return {"valid": "a" in inputs, "errors": []}

    assert define_module("a.c", Checking).validate({"a": 1}) == {"valid": True, "errors": []}
    assert define_module("a.c", Plain).validate is None


@pytest.mark.parametrize("dependencies", ["a.b", [1], {"a.b": "1.0.0"}])
def test_dependencies_that_are_none_are_refused(dependencies):
    with pytest.raises(ModuleLoadError, match="dependenc"):
        define_module("a.c", type("Wrong", (Plain,), {"dependencies": dependencies}))
