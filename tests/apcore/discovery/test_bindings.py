import datetime as dt

import pytest

from apcore import BindingLoader, Executor, Registry, module
from apcore.errors import (
    BindingCallableNotFoundError,
    BindingFileInvalidError,
    BindingSchemaInferenceFailedError,
    InvalidInputError,
    InvalidModuleIdError,
    ModuleError,
    SchemaNotFoundError,
    SchemaParseError,
    SchemaValidationError,
)
from tests.apcore.discovery import targets

HERE = "tests.apcore.discovery.targets"


@pytest.fixture
def bind(write):
    """Write a binding file, load it into a registry and return that."""

    def bind(text: str, registry: Registry | None = None) -> Registry:
        registry = registry or Registry()
        BindingLoader().load_bindings(write("bindings/a.binding.yaml", text), registry)
        return registry

    return bind


def item(**fields):
    lines = [f"{name}: {value}" for name, value in fields.items()]
    return "bindings:\n  - " + "\n    ".join(lines) + "\n"


@pytest.mark.req("R-5.12.2-01", "R-5.12.7-04", "R-5.12.2-02")
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "read"),
        ("- a", "read"),
        ("modules: []", "bindings"),
        ("bindings: {}", "/bindings"),
        ("bindings: [a.b]", "/bindings/0"),
        ("bindings: [{target_id: 'a:b'}]", "/bindings/0"),
        ("bindings: [{module_id: a.b}]", "/bindings/0"),
        ("bindings: [{module_id: 5, target_id: 'a:b'}]", "/bindings/0/module_id"),
        ("bindings: [{module_id: a.b, target_id: 'a:b', tags: x}]", "/bindings/0/tags"),
        ("bindings: [{module_id: a.b, target_id: 'a:b', input_schema: []}]", "/bindings/0/input_schema"),
        ("bindings: [{module_id: a.b, display: {cli: {alias: 3}}}]", "/bindings/0/display/cli/alias"),
    ],
)
def test_a_file_of_another_shape_is_refused_with_the_place(bind, text, place):
    with pytest.raises(BindingFileInvalidError, match=place) as caught:
        bind(text)
    assert caught.value.code == "BINDING_FILE_INVALID"
    assert caught.value.details["file"].endswith("a.binding.yaml")


@pytest.mark.parametrize("target", ["send_email", "refund"])
def test_an_annotation_of_the_wrong_kind_is_refused_with_the_item(bind, target):
    with pytest.raises(ModuleError, match=r"email\.send.*'readonly' is bool"):
        bind(item(module_id="email.send", target_id=f"{HERE}:{target}", annotations="{readonly: 'no'}"))


def test_a_file_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(BindingFileInvalidError, match="does not exist"):
        BindingLoader().load_bindings(tmp_path / "none.yaml", Registry())
    with pytest.raises(BindingFileInvalidError, match="does not exist"):
        BindingLoader().load_binding_dir(tmp_path / "none", Registry())


@pytest.mark.req("R-5.12.7-01", "R-2.7-02")
@pytest.mark.parametrize("module_id", ["Email.send", "a-b", "a" * 193])
def test_the_id_is_checked(bind, module_id):
    with pytest.raises(InvalidModuleIdError):
        bind(item(module_id=module_id, target_id=f"{HERE}:send_email"))


@pytest.mark.req("R-5.12.7-02")
def test_the_target_is_resolved_at_once_and_the_file_is_named(bind):
    with pytest.raises(BindingCallableNotFoundError) as caught:
        bind(item(module_id="a.b", target_id=f"{HERE}:nope"))
    assert "a.binding.yaml" in caught.value.__notes__[0]


@pytest.mark.req("R-5.12.7-03")
def test_an_id_that_exists_is_a_conflict_and_nothing_is_registered(bind):
    registry = Registry()
    registry.register("email.send", module(targets.send_email, id="email.send"))
    text = item(module_id="email.first", target_id=f"{HERE}:send_email", auto_schema="true")
    text += f"  - {{module_id: email.send, target_id: '{HERE}:send_email'}}\n"

    with pytest.raises(InvalidInputError) as caught:
        bind(text, registry)
    assert caught.value.details["type"] == "duplicate_id"
    assert registry.list() == ["email.send"]


def test_one_id_twice_in_a_file_is_a_conflict(bind):
    one = f"  - {{module_id: a.b, target_id: '{HERE}:send_email'}}\n"
    with pytest.raises(InvalidInputError):
        bind("bindings:\n" + one + one)


@pytest.mark.req("R-5.12.1-01", "R-5.12.3-06", "R-5.12.2-03", "R-5.12.2-05")
def test_a_function_becomes_a_module_without_knowing(bind):
    registry = bind(
        f"""
        bindings:
          - module_id: "email.send"
            target_id: "{HERE}:untyped"
            description: "Send email"
            documentation: "At length"
            input_schema:
              type: object
              properties:
                a: {{type: integer}}
              required: [a]
            output_schema:
              type: object
              properties:
                sum: {{type: integer}}
            annotations: {{readonly: true}}
            tags: [email]
            version: "2.1.0"
            metadata: {{owner: mail}}
        """
    )

    definition = registry.get_definition("email.send")
    assert (definition.description, definition.documentation) == ("Send email", "At length")
    assert (definition.tags, definition.version, definition.metadata) == (("email",), "2.1.0", {"owner": "mail"})
    assert definition.annotations.readonly
    assert list(definition.input_schema["properties"]) == ["a"]
    assert Executor(registry).call("email.send", {"a": 5}) == {"sum": 7}


@pytest.mark.req("R-5.12.2-06")
def test_the_schema_of_the_file_is_what_is_validated_against(bind):
    registry = bind(
        item(
            module_id="email.send",
            target_id=f"{HERE}:send_email",
            input_schema="{type: object, properties: {to: {type: string, maxLength: 3}, subject: {type: string}}}",
            output_schema="{type: object}",
        )
    )
    executor = Executor(registry)

    assert executor.call("email.send", {"to": "bob", "subject": "x"}) == {"success": True}
    with pytest.raises(SchemaValidationError):
        executor.call("email.send", {"to": "robert", "subject": "x"})


@pytest.mark.req("R-5.12.5-01", "R-5.12.2-05", "R-5.12.2-04")
@pytest.mark.parametrize("auto", [{"auto_schema": "true"}, {}])
def test_the_schema_is_inferred_as_by_the_decorator(bind, auto):
    registry = bind(item(module_id="email.send", target_id=f"{HERE}:send_email", **auto))

    bound, decorated = registry.get_definition("email.send"), module(targets.send_email, id="email.send")
    assert bound.input_schema == decorated.input_schema
    assert bound.output_schema == decorated.output_schema
    assert bound.description == "Send an email."


def test_a_method_is_called_on_an_instance(bind):
    registry = bind(item(module_id="a.b", target_id=f"{HERE}:EmailService.send_template", auto_schema="true"))

    assert Executor(registry).call("a.b", {"name": "x"}) == {"sent": "shop:x"}
    assert registry.get_definition("a.b").description == "Send email using a template"


def test_declared_types_are_built_even_where_the_schema_is_written(bind):
    day = "{type: string, format: date}"
    registry = bind(
        item(
            module_id="a.b",
            target_id=f"{HERE}:due",
            input_schema=f"{{type: object, properties: {{day: {day}}}}}",
            output_schema="{type: object}",
        )
    )

    assert Executor(registry).call("a.b", {"day": "2026-02-28"}) == {"result": dt.date(2026, 3, 1).isoformat()}


@pytest.mark.req("R-5.12.3-06")
def test_built_in_functions_can_be_bound(bind):
    registry = bind(
        item(
            module_id="a.root",
            target_id="math:sqrt",
            input_schema="{type: object, properties: {x: {type: number}}}",
            output_schema="{type: object}",
        )
    )

    assert Executor(registry).call("a.root", {"x": 9}) == {"result": 3.0}


@pytest.mark.req("R-5.12.5-02", "R-5.12.5-03", "R-5.12.5-04", "R-5.12.8-01")
@pytest.mark.parametrize("fields", [{"auto_schema": "true"}, {}, {"input_schema": "{type: object}"}])
@pytest.mark.parametrize("name", ["untyped", "half_typed"])
def test_too_little_for_a_schema_is_an_error(bind, name, fields):
    with pytest.raises(BindingSchemaInferenceFailedError) as caught:
        bind(item(module_id="a.b", target_id=f"{HERE}:{name}", **fields))
    assert caught.value.code == "BINDING_SCHEMA_INFERENCE_FAILED"
    assert isinstance(caught.value.cause, ModuleError)


@pytest.mark.req("R-5.12.5-04")
def test_the_old_code_is_understood_and_not_written():
    error = ModuleError.from_dict({"code": "BINDING_SCHEMA_MISSING", "message": "x"})

    assert isinstance(error, BindingSchemaInferenceFailedError)
    assert error.to_dict()["code"] == "BINDING_SCHEMA_INFERENCE_FAILED"


def test_a_schema_that_is_none_is_refused(bind):
    with pytest.raises(SchemaParseError):
        bind(
            item(
                module_id="a.b",
                target_id=f"{HERE}:untyped",
                input_schema="{type: 5}",
                output_schema="{type: object}",
            )
        )


@pytest.mark.req("R-5.12.2-05")
@pytest.mark.parametrize(
    "fields",
    [
        {"auto_schema": "true", "input_schema": "{type: object}"},
        {"auto_schema": "true", "schema_ref": "x.yaml"},
        {"output_schema": "{type: object}", "schema_ref": "x.yaml"},
    ],
)
def test_the_ways_to_a_schema_exclude_each_other(bind, fields):
    with pytest.raises(BindingFileInvalidError, match="exclude"):
        bind(item(module_id="a.b", target_id=f"{HERE}:untyped", **fields))


def test_a_decorated_function_keeps_what_its_decorator_says(bind):
    registry = bind(
        item(module_id="a.b", target_id=f"{HERE}:refund", tags="[bound]", annotations="{idempotent: false}")
    )

    definition = registry.get_definition("a.b")
    assert definition.requires_approval
    assert not definition.annotations.idempotent
    assert (definition.description, definition.tags, definition.timeout_ms) == ("Refund an order", ("bound",), 50)


def test_a_mistyped_key_is_told_at_every_depth(bind, caplog):
    bind(
        item(
            module_id="a.b",
            target_id=f"{HERE}:send_email",
            tag="[mail]",
            metadata="{owner: me}",
            display="{aliass: send, cli: {name: send, x-own: 1}, x-own: 2}",
        )
    )

    assert [each.message.partition(": ")[2] for each in caplog.records] == [
        "unknown keys are ignored: display.aliass, display.cli.name, tag"
    ]


class TestSchemaRef:
    @pytest.mark.req("R-5.12.4-01")
    def test_a_file_beside_the_bindings_gives_the_schemas(self, bind, write):
        write(
            "schemas/email.send.schema.yaml",
            """
            input_schema:
              type: object
              properties:
                a: {$ref: "#/definitions/Number"}
            output_schema: {type: object}
            definitions:
              Number: {type: integer}
            """,
        )

        registry = bind(
            item(module_id="a.b", target_id=f"{HERE}:untyped", schema_ref="../schemas/email.send.schema.yaml")
        )

        assert registry.get_definition("a.b").input_schema["properties"] == {"a": {"type": "integer"}}
        assert Executor(registry).call("a.b", {"a": 1}) == {"sum": 3}

    @pytest.mark.parametrize(
        ("target", "fields", "expected"),
        [
            ("untyped", {}, "What the file says"),
            ("send_email", {}, "Send an email."),
            ("untyped", {"description": "What the item says"}, "What the item says"),
        ],
    )
    def test_the_description_of_the_file_comes_after_that_of_the_code(self, bind, write, target, fields, expected):
        write(
            "schemas/a.schema.yaml",
            "{description: What the file says, input_schema: {type: object}, output_schema: {type: object}}",
        )

        registry = bind(
            item(module_id="a.b", target_id=f"{HERE}:{target}", schema_ref="../schemas/a.schema.yaml", **fields)
        )

        assert registry.get_definition("a.b").description == expected

    @pytest.mark.req("R-5.12.4-01")
    def test_a_missing_file_is_an_error(self, bind):
        with pytest.raises(SchemaNotFoundError):
            bind(item(module_id="a.b", target_id=f"{HERE}:untyped", schema_ref="none.yaml"))


class TestDirectories:
    @pytest.mark.req("R-5.12.6-01")
    def test_the_files_that_fit_the_pattern_are_loaded(self, write, tmp_path):
        for name, module_id in (("a.binding.yaml", "a.a"), ("b.yaml", "a.b"), ("c.binding.yaml", "a.c")):
            write(f"bindings/{name}", item(module_id=module_id, target_id=f"{HERE}:send_email"))
        registry = Registry()

        loaded = BindingLoader().load_binding_dir(tmp_path / "bindings", registry)
        assert [each.id for each in loaded] == registry.list() == ["a.a", "a.c"]

        BindingLoader().load_binding_dir(tmp_path / "bindings", registry, "b.yaml")
        assert registry.list() == ["a.a", "a.b", "a.c"]

    def test_one_bad_file_keeps_all_out(self, write, tmp_path):
        write("bindings/a.binding.yaml", item(module_id="a.a", target_id=f"{HERE}:send_email"))
        write("bindings/b.binding.yaml", item(module_id="a.b", target_id=f"{HERE}:nope"))
        registry = Registry()

        with pytest.raises(BindingCallableNotFoundError):
            BindingLoader().load_binding_dir(str(tmp_path / "bindings"), registry)
        assert registry.list() == []
