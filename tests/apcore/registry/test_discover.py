import pytest

from apcore import ACL, Executor, Registry
from apcore.errors import (
    ACLDeniedError,
    AmbiguousEntryPointError,
    CircularDependencyError,
    ConfigError,
    DependencyNotFoundError,
    DependencyVersionMismatchError,
    InvalidInputError,
    ModuleIdConflictError,
    ModuleLoadError,
    ModuleNotFoundError,
    NoModuleClassError,
)
from tests.apcore.discovery.samples import module_class

RECORDER = """
LOADED = []


class Recorder:
    description = "Notes when it is loaded"
    input_schema = {"type": "object"}
    output_schema = {"type": "object"}
    version = "1.0.0"

    def on_load(self):
        LOADED.append("on_load")

    def on_unload(self):
        LOADED.append("on_unload")

    def execute(self, inputs, context):
        return {"loaded": LOADED}
"""
BROKEN = RECORDER.replace('LOADED.append("on_load")', "raise ValueError('no connection')")


def levels(caplog):
    return [each.levelname for each in caplog.records]


@pytest.mark.req("R-12.2-07")
def test_a_project_without_the_directory_is_an_error(project):
    with pytest.raises(ConfigError) as caught:
        Registry().discover({"extensions": {"root": "./nowhere"}})
    assert caught.value.details["reason"] == "EXTENSION_ROOT_NOT_FOUND"


@pytest.mark.req("R-12.2-07", "R-14.A-01", "R-3.1-01", "R-5.1-01")
def test_the_sample_project_loads_as_a_whole(project, write):
    for module_id in (
        "api.handler.task_submit",
        "orchestrator.engine.task_flow",
        "executor.validator.db_params",
        "executor.handler.db_task",
    ):
        path = module_id.replace(".", "/")
        write(
            f"extensions/{path}.py",
            """
            from apcore import Module


            class Anything(Module):
                def execute(self, inputs, context):
                    return {"id": inputs["id"]}
            """,
        )
        write(f"extensions/{path}_meta.yaml", f"description: From the metadata of {module_id}\ntags: [sample]\n")
        write(
            f"schemas/{module_id}.schema.yaml",
            f"""
            $schema: "https://apcore.dev/schema/v1"
            version: "1.0.0"
            module_id: "{module_id}"
            description: From the schema
            input_schema: {{type: object, properties: {{id: {{type: string}}}}, required: [id]}}
            output_schema: {{type: object}}
            """,
        )
    write(
        "acl/global_acl.yaml", "rules:\n  - {callers: ['*'], targets: ['api.*'], effect: allow}\ndefault_effect: deny\n"
    )
    registry = Registry()

    assert len(registry.discover()) == 4

    assert registry.list(tags=["sample"]) == [
        "api.handler.task_submit",
        "executor.handler.db_task",
        "executor.validator.db_params",
        "orchestrator.engine.task_flow",
    ]
    definition = registry.get_definition("executor.validator.db_params")
    assert definition.description == "From the metadata of executor.validator.db_params"
    executor = Executor(registry, acl=ACL.load("acl/global_acl.yaml"))
    assert executor.call("api.handler.task_submit", {"id": "x"}) == {"id": "x"}
    with pytest.raises(ACLDeniedError):
        executor.call("executor.handler.db_task", {"id": "x"})


@pytest.mark.req("R-5.11.1-01", "R-5.11.12-01")
def test_a_call_is_a_module_though_its_result_has_no_name(project, write):
    """The form of §5.11.12: ``module(service.send, id="email.send")``, and nothing else."""
    write(
        "extensions/mail.py",
        """
        from apcore import module


        class EmailService:
            def send(self, to: str, subject: str, body: str) -> dict:
                '''Send email'''
                return {"to": to}


        class LetterService(EmailService):
            pass


        def fit(to: str) -> dict:
            made = module(EmailService().send, id="email.never")
            return {"made": made.id}


        service = EmailService()
        module(service.send, id="email.send")
        module(LetterService().send, id="letter.send")
        module(service.send)
        module(fit, id="mail.fit")
        """,
    )
    registry = Registry()

    assert registry.discover() == ["email.send", "letter.send", "mail.send", "mail.fit"]
    executor = Executor(registry)
    assert executor.call("email.send", {"to": "a", "subject": "b", "body": "c"}) == {"to": "a"}
    assert executor.call("mail.fit", {"to": "a"}) == {"made": "email.never"}
    assert registry.discover() == []


def test_two_unnamed_calls_of_one_name_are_refused(project, write):
    write(
        "extensions/mail.py",
        """
        from apcore import module

        def send(to: str) -> dict: ...

        for _ in range(2):
            module(send)
        """,
    )
    with pytest.raises(ModuleIdConflictError, match="send"):
        Registry().discover()


@pytest.mark.req("R-5.11.4-01", "R-5.11.1-01")
@pytest.mark.parametrize("future", ["from __future__ import annotations", ""])
def test_a_file_may_use_a_class_above_the_line_that_makes_it(project, write, future):
    names = {"one": "Order", "many": "list[Order]", "inside": "Basket", "optional": "Optional[Order]"}
    functions = "\n".join(
        f"@module(id='read.{name}')\ndef {name}(order: '{hint}') -> 'Order':\n    return first(order)\n"
        for name, hint in names.items()
    )
    write(
        "extensions/read.py",
        f"""{future}
from dataclasses import dataclass
from decimal import Decimal
from typing import Optional

from pydantic import BaseModel

from apcore import module


@dataclass
class Basket:
    content: "Order"

{functions}

@module(id="read.nested")
def nested(order: list["Order"]) -> "Order":
    return first(order)


def first(order):
    order = order[0] if isinstance(order, list) else order
    order = getattr(order, "content", order)
    assert type(order) is Order
    return order


class Order(BaseModel):
    amount: Decimal
""",
    )
    registry = Registry()
    registry.discover()
    executor, order = Executor(registry), {"amount": "1.50"}

    for name, inputs in {"one": order, "many": [order], "inside": {"content": order}, "optional": order}.items():
        assert executor.call(f"read.{name}", {"order": inputs}) == order
    assert executor.call("read.nested", {"order": [order]}) == order


def test_it_takes_a_configuration_an_object_or_directories(project, write):
    write("extensions/a.py", module_class())
    write("more/b.py", module_class())
    sections = {"extensions": {"root": str(project / "more")}}

    class Config:
        def get(self, key, default=None):
            section, _, name = key.partition(".")
            return sections.get(section, {}).get(name, default)

    assert Registry().discover() == ["a"]
    assert Registry().discover(sections) == ["b"]
    assert Registry().discover({"apcore": sections}) == ["b"]
    assert Registry().discover(Config()) == ["b"]
    assert Registry().discover("more") == Registry().discover(project / "more") == ["b"]
    assert Registry().discover(["extensions", "more"]) == ["a", "b"]


@pytest.mark.req("R-5.6-01", "R-5.12.1-01", "R-5.14.1-02")
def test_every_kind_of_module_is_found(project, write):
    write("extensions/classes/plain.py", module_class())
    write(
        "extensions/functions.py",
        """
        from __future__ import annotations

        from apcore import Context, module


        @module(id="email.send")
        def send(to: str, context: Context) -> dict:
            return {"to": to}


        def _add(a: int, b: int) -> int:
            return a + b


        @module(tags=["x"])
        def greet(name: str) -> dict:
            return {"hello": name}


        added = module(_add, id="math.add")
        """,
    )
    write("bindings/a.binding.yaml", "bindings: [{module_id: a.root, target_id: 'tests.apcore.discovery.targets:due'}]")
    write("commands/deploy.py", "def deploy(env: str):\n    return {'env': env}\n")
    registry, without = Registry(), Registry()

    registry.discover({"conventions": {"enabled": True}})
    without.discover()

    assert without.list() == ["a.root", "classes.plain", "email.send", "functions.greet", "math.add"]
    assert registry.list() == [*without.list()[:2], "deploy.deploy", *without.list()[2:]]
    executor = Executor(registry)
    assert executor.call("email.send", {"to": "bob"}) == {"to": "bob"}
    assert executor.call("math.add", {"a": 1, "b": 2}) == {"result": 3}
    assert executor.call("deploy.deploy", {"env": "prod"}) == {"env": "prod"}
    assert executor.call("classes.plain", {}) == {"done": "Worker"}


@pytest.mark.req("R-5.10-01")
def test_the_sample_module_of_the_protocol_runs(project, write):
    write(
        "extensions/executor/validator/db_params.py",
        '''
        from typing import Optional

        from pydantic import BaseModel, Field

        from apcore import Context, Module, ModuleAnnotations, ModuleExample


        class DBParamsInput(BaseModel):
            """Input Schema - Keep consistent with YAML"""
            table: str = Field(..., pattern=r"^[a-z][a-z0-9_]*$")
            sql: str
            timeout: int = Field(default=30, ge=1, le=300)


        class DBParamsOutput(BaseModel):
            """Output Schema"""
            valid: bool
            message: Optional[str] = None
            errors: list[dict] = []
            warnings: list[str] = []


        class DbParamsValidator(Module):
            """Database parameter validator"""

            input_schema = DBParamsInput
            output_schema = DBParamsOutput
            annotations = ModuleAnnotations(readonly=True, idempotent=True, open_world=False)
            examples = [ModuleExample(title="Safe", inputs={"table": "a", "sql": "SELECT 1"})]

            def execute(self, inputs: dict, context: Context) -> dict:
                params = DBParamsInput(**inputs)
                errors = []
                for kw in ["DROP", "TRUNCATE", "DELETE"]:
                    if kw in params.sql.upper():
                        errors.append({"field": "sql", "code": "DANGEROUS_SQL", "message": kw})
                return DBParamsOutput(valid=len(errors) == 0, message="x", errors=errors).model_dump()
        ''',
    )
    registry = Registry()
    registry.discover()

    result = Executor(registry).call("executor.validator.db_params", {"table": "t", "sql": "DROP TABLE t"})

    assert (result["valid"], [each["code"] for each in result["errors"]]) == (False, ["DANGEROUS_SQL"])


@pytest.mark.req("R-5.2-03", "R-5.2-04", "R-2.1.1-02")
@pytest.mark.parametrize(
    ("text", "error"),
    [
        (module_class("A") + module_class("B"), AmbiguousEntryPointError),
        ("def helper(): ...", NoModuleClassError),
        ("import nothing_of_that_name", ModuleLoadError),
        ("class A:\n    def execute(self, inputs, context):\n        return {}\n", ModuleLoadError),
    ],
)
def test_a_file_that_is_no_module_is_an_error_and_nothing_is_registered(project, write, text, error):
    write("extensions/a_good.py", module_class())
    write("extensions/bad.py", text)
    registry = Registry()

    with pytest.raises(error) as caught:
        registry.discover()
    assert "bad" in str(caught.value) or "bad.py" in "".join(caught.value.__notes__)
    assert registry.list() == []


def test_several_failures_are_told_at_once(project, write):
    write("extensions/one.py", "1 / 0")
    write("extensions/two.py", "1 / 0")

    with pytest.raises(ModuleLoadError, match=r"one\.py") as caught:
        Registry().discover()
    assert "two.py" in caught.value.__notes__[0]


@pytest.mark.req("R-2.1.1-01", "R-2.1.1-02")
def test_several_classes_in_a_file_are_opted_in(project, write):
    write("extensions/math.py", module_class("Addition") + module_class("MathOps"))
    registry = Registry()

    assert registry.discover({"extensions": {"multi_class": True}}) == ["math.addition", "math.math_ops"]
    assert Executor(registry).call("math.math_ops", {}) == {"done": "MathOps"}


@pytest.mark.req("R-5.2-01")
def test_the_entry_point_picks_a_class(project, write):
    write("extensions/db.py", module_class("One") + module_class("Two"))
    write("extensions/db_meta.yaml", 'entry_point: "db:Two"\n')
    write("extensions/other.py", module_class("Other"))
    write("extensions/other_meta.yaml", 'entry_point: "_elsewhere:Class"\n')
    write("extensions/_elsewhere.py", module_class("Class"))
    registry = Registry()

    registry.discover()
    assert Executor(registry).call("db", {}) == {"done": "Two"}
    assert Executor(registry).call("other", {}) == {"done": "Class"}

    write("extensions/third.py", module_class())
    write("extensions/third_meta.yaml", 'entry_point: "third:Nobody"\n')
    with pytest.raises(NoModuleClassError, match="Nobody"):
        registry.discover()


class TestDependencies:
    def needs(self, write, name, text, code=RECORDER):
        write(f"extensions/{name}.py", code)
        write(f"extensions/{name}_meta.yaml", f"dependencies: {text}\n")

    @pytest.mark.req("R-5.3-01")
    def test_what_is_needed_is_loaded_first(self, project, write):
        self.needs(write, "a", "[b]")
        self.needs(write, "b", "{requires: [d], optional: [c]}")
        write("extensions/c.py", RECORDER)
        write("extensions/d.py", RECORDER)
        registered = []
        registry = Registry()
        registry.on("register", lambda module_id, module: registered.append(module_id))

        order = registry.discover()

        assert order.index("d") < order.index("b") < order.index("a")
        assert order.index("c") < order.index("b")
        assert registered == order
        assert [each.module_id for each in registry.get_definition("b").dependencies] == ["d", "c"]

    @pytest.mark.req("R-5.15.2-01")
    def test_a_missing_one_is_an_error(self, project, write):
        self.needs(write, "a", "[no.such]")
        registry = Registry()

        with pytest.raises(DependencyNotFoundError):
            registry.discover()
        assert not registry.has_module("a")

    @pytest.mark.parametrize(
        "declared", ["'b'", "[{'module': 'b'}]", "[{'module_id': 'b', 'version': 'new'}]", "['B-1']"]
    )
    def test_what_is_no_dependency_is_told_with_the_file(self, project, write, declared):
        write("extensions/a.py", f"{RECORDER}    dependencies = {declared}\n")
        write("extensions/b.py", RECORDER)
        registry = Registry()

        with pytest.raises(ModuleLoadError, match=r"Module 'a' of '.*a\.py': .*dependenc") as caught:
            registry.discover()
        assert isinstance(caught.value.cause, ValueError)
        assert registry.list() == []

    @pytest.mark.req("R-5.15.2-02", "R-5.3-08")
    def test_a_missing_optional_one_is_told(self, project, write, caplog):
        caplog.set_level("INFO", "apcore.registry")
        self.needs(write, "a", "[{module_id: no.such, optional: true}]")

        assert Registry().discover() == ["a"]
        assert [(each.levelname, "no.such" in each.message) for each in caplog.records] == [("INFO", True)]

    @pytest.mark.req("R-5.15.2-03", "R-5.15.3-01")
    @pytest.mark.parametrize("code", [BROKEN, "1 / 0"])
    def test_a_required_one_that_fails_is_an_error(self, project, write, code):
        self.needs(write, "a", "[b]")
        write("extensions/b.py", code)
        registry = Registry()

        with pytest.raises(ModuleLoadError) as caught:
            registry.discover()
        assert caught.value.code == "MODULE_LOAD_ERROR"
        assert registry.list() == []

    @pytest.mark.req("R-5.15.2-04")
    @pytest.mark.parametrize("code", [BROKEN, "1 / 0"])
    def test_an_optional_one_that_fails_is_a_warning(self, project, write, code, caplog):
        self.needs(write, "a", "[{module_id: b, optional: true}]")
        write("extensions/b.py", code)
        registry = Registry()

        assert registry.discover() == ["a"]
        assert [each.levelname for each in caplog.records if "failed to load" in each.message] == ["WARNING"]
        assert not registry.has("b")

    def test_one_that_others_require_is_not_dispensable(self, project, write):
        self.needs(write, "a", "[{module_id: b, optional: true}]")
        self.needs(write, "c", "[b]")
        write("extensions/b.py", BROKEN)

        with pytest.raises(ModuleLoadError):
            Registry().discover()

    @pytest.mark.req("R-5.15.2-05")
    def test_a_version_that_does_not_fit_is_an_error(self, project, write):
        self.needs(write, "a", "[{module_id: b, version: '^2.0.0'}]")
        write("extensions/b.py", RECORDER)
        registry = Registry()

        with pytest.raises(DependencyVersionMismatchError):
            registry.discover()
        assert registry.list() == []

    @pytest.mark.req("R-5.15.2-06")
    def test_an_optional_version_that_does_not_fit_is_a_warning(self, project, write, caplog):
        self.needs(write, "a", "[{module_id: b, version: '^2.0.0', optional: true}]")
        write("extensions/b.py", RECORDER)

        assert Registry().discover() == ["a", "b"]
        assert levels(caplog) == ["WARNING"]

    def test_what_is_registered_already_counts(self, project, write):
        write("more/b.py", RECORDER.replace('version = "1.0.0"', 'version = "2.1.0"'))
        self.needs(write, "a", "[{module_id: b, version: '^2.0.0'}]")
        registry = Registry()

        registry.discover("more")
        assert registry.discover() == ["a"]

    @pytest.mark.req("R-5.15.2-07", "R-5.15.2-08", "R-5.15.2-09", "R-5.3-02")
    @pytest.mark.parametrize("names", ["ab", "abc"])
    def test_a_circle_comes_out_of_discover(self, project, write, names):
        for name, needed in zip(names, names[1:] + names[0], strict=True):
            self.needs(write, name, f"[{needed}]")
        registry = Registry()

        with pytest.raises(CircularDependencyError) as caught:
            registry.discover()
        assert caught.value.details["cycle"] == [*names, "a"]
        assert registry.list() == []

    def test_what_was_loaded_before_the_failure_is_unloaded(self, project, write):
        self.needs(write, "b", "[a]", BROKEN)
        write("extensions/a.py", RECORDER)
        registry = Registry()
        events = []
        registry.on("register", lambda *event: events.append(event))

        with pytest.raises(ModuleLoadError):
            registry.discover()
        assert registry.list() == events == []

        write("extensions/b_meta.yaml", "dependencies: [{module_id: a}]\n")
        (project / "extensions" / "b.py").unlink()
        registry.discover()
        assert registry.get("a").execute({}, None)["loaded"] == ["on_load", "on_unload", "on_load"]


class TestAgain:
    @pytest.mark.req("R-5.15.3-05")
    def test_what_has_not_changed_is_left_alone(self, project, write):
        write("extensions/a.py", RECORDER)
        write("extensions/a_meta.yaml", "tags: [x]\n")
        write(
            "bindings/a.binding.yaml", "bindings: [{module_id: b.due, target_id: 'tests.apcore.discovery.targets:due'}]"
        )
        registry = Registry()
        registry.discover()
        first, bound = registry.get("a"), registry.get("b.due")

        write("extensions/new.py", RECORDER)
        assert registry.discover() == ["new"]
        assert registry.discover() == []

        assert registry.get("a") is first
        assert registry.get("b.due") is bound
        assert first.execute({}, None) == {"loaded": ["on_load"]}

    @pytest.mark.req("R-5.15.3-05")
    def test_changed_metadata_renews_the_description_of_the_same_instance(self, project, write):
        write("extensions/a.py", RECORDER)
        registry = Registry()
        registry.discover()
        first = registry.get("a")

        write("extensions/a_meta.yaml", "tags: [x]\nannotations: {requires_approval: true}\n")
        assert registry.discover() == ["a"]

        assert registry.get("a") is first
        assert registry.get_definition("a").tags == ("x",)
        assert registry.get_definition("a").requires_approval
        assert first.execute({}, None) == {"loaded": ["on_load"]}

    def test_changed_metadata_do_not_make_old_code_pass_for_the_edited_one(self, project, write):
        write("extensions/only/recorder.py", RECORDER)
        registry = Registry()
        registry.discover()
        before = registry.get_definition("only.recorder")

        write("extensions/only/recorder.py", RECORDER.replace("LOADED}", "LOADED, 'more': 1}"))
        write("extensions/only/recorder_meta.yaml", "tags: [told]")
        registry.discover()

        renewed = registry.get_definition("only.recorder")
        assert renewed.tags == ("told",)
        assert renewed.content_hash == before.content_hash

    def test_a_changed_binding_is_renewed(self, project, write):
        target = "tests.apcore.discovery.targets"
        write("extensions/a.py", RECORDER)
        write("bindings/a.binding.yaml", f"bindings: [{{module_id: b.x, target_id: '{target}:due'}}]")
        registry = Registry()
        registry.discover()

        overlay = "- {module_id: a, display: {alias: first}}"
        write(
            "bindings/a.binding.yaml", f"bindings:\n- {{module_id: b.x, target_id: '{target}:send_email'}}\n{overlay}\n"
        )
        assert sorted(registry.discover()) == ["a", "b.x"]

        assert "subject" in registry.get_definition("b.x").input_schema["properties"]
        assert registry.get_definition("a").metadata["display"]["alias"] == "first"
        assert registry.get("a").execute({}, None) == {"loaded": ["on_load"]}

    def test_metadata_that_became_wrong_changes_nothing(self, project, write):
        write("extensions/a.py", RECORDER)
        write("extensions/b.py", RECORDER)
        registry = Registry()
        registry.discover()
        before = {name: registry.get_definition(name) for name in registry.list()}

        write("extensions/a_meta.yaml", "tags: [x]\n")
        write("extensions/b_meta.yaml", "annotations: {readonly: 'yes'}\n")
        with pytest.raises(ModuleLoadError, match="readonly"):
            registry.discover()
        assert {name: registry.get_definition(name) for name in registry.list()} == before

        write("extensions/b_meta.yaml", "tags: [y]\n")
        assert registry.discover() == ["a", "b"]

    def test_a_module_that_was_unregistered_comes_back(self, project, write):
        write("extensions/a.py", RECORDER)
        registry = Registry()
        registry.discover()

        registry.unregister("a")
        assert registry.discover() == ["a"]

    def test_an_id_that_somebody_else_registered_is_a_conflict(self, project, write):
        write("extensions/a.py", RECORDER)
        registry = Registry()
        registry.register("a", _other())

        with pytest.raises(InvalidInputError) as caught:
            registry.discover()
        assert caught.value.details["type"] == "duplicate_id"


def _other():
    class Other:
        description = "Another one"
        input_schema = {"type": "object"}
        output_schema = {"type": "object"}

        def execute(self, inputs, context):
            return {}

    return Other


class TestBindings:
    ITEM = "bindings: [{{module_id: {0}, target_id: 'tests.apcore.discovery.targets:due'}}]\n"

    @pytest.mark.req("R-5.12.6-03")
    def test_the_default_directory_may_be_missing(self, project, write):
        assert Registry().discover() == []
        write("bindings/a.binding.yaml", self.ITEM.format("a.a"))
        assert Registry().discover() == ["a.a"]

    @pytest.mark.req("R-5.12.6-01")
    def test_a_named_directory_is_scanned_and_missed(self, project, write, caplog):
        write("elsewhere/a.binding.yaml", self.ITEM.format("a.a"))
        write("elsewhere/b.yaml", self.ITEM.format("a.b"))

        assert Registry().discover({"bindings": {"dir": "./elsewhere"}}) == ["a.a"]
        assert Registry().discover({"bindings": {"dir": "./elsewhere", "pattern": "*.yaml"}}) == ["a.a", "a.b"]
        assert Registry().discover({"bindings": {"dir": "./nowhere"}}) == []
        assert levels(caplog) == ["WARNING", "WARNING"]
        assert [str(each.args[0]) for each in caplog.records] == ["elsewhere/b.yaml", "nowhere"]

    @pytest.mark.req("R-5.12.6-02")
    def test_named_files_are_loaded_and_no_others(self, project, write):
        for name in "abc":
            write(f"bindings/{name}.binding.yaml", self.ITEM.format(f"x.{name}"))
        write("more/d.binding.yaml", self.ITEM.format("x.d"))
        files = ["./bindings/a.binding.yaml", "./bindings/b.binding.yaml"]

        assert Registry().discover({"bindings": {"files": files}}) == ["x.a", "x.b"]
        assert Registry().discover({"bindings": {"files": files, "dir": "more"}}) == ["x.d", "x.a", "x.b"]

    @pytest.mark.req("R-5.14.9-01", "R-5.13.8-02", "R-5.13.4-01")
    def test_a_presentation_applies_to_whatever_was_found(self, project, write):
        write("extensions/a/b.py", module_class())
        write("extensions/a/c.py", module_class())
        write("commands/deploy.py", "CLI_GROUP = 'x'\ndef deploy(env: str):\n    return {'env': env}\n")
        write(
            "bindings/a.binding.yaml",
            """
            bindings:
              - module_id: deploy.deploy
                display: {alias: deploy, cli: {group: ops, description: Deploy app to production}}
              - module_id: a.b
                display: {alias: work}
            """,
        )
        registry = Registry()

        registry.discover({"conventions": {"enabled": True, "dir": "commands"}})

        shown = registry.get_definition("deploy.deploy").metadata["display"]
        assert (shown["alias"], shown["cli"]["group"]) == ("deploy", "ops")
        assert shown["cli"]["description"] == "Deploy app to production"
        assert registry.get_definition("a.b").metadata["display"]["mcp"]["alias"] == "work"
        assert registry.get_definition("a.c").metadata == {}


class TestVersions:
    @pytest.fixture
    def registry(self, project, write):
        write("extensions/db.py", module_class("One"))
        write(
            "extensions/db_v2.py",
            module_class("Two").replace("    description", '    version = "2.0.0"\n    description'),
        )
        registry = Registry()
        registry.discover()
        return registry

    @pytest.mark.req("R-5.4-01", "R-2.4-01")
    def test_several_versions_live_side_by_side(self, registry):
        executor = Executor(registry)

        assert executor.call("db", {}) == {"done": "One"}
        assert executor.call("db_v2", {}) == {"done": "Two"}

    @pytest.mark.req("R-5.4-02", "R-2.4-02", "R-5.4-03")
    def test_a_version_can_be_asked_for(self, registry):
        two = registry.get("db_v2")

        assert registry.get("db@2") is registry.get("db@v2") is registry.get("db@2.0.0") is two
        assert registry.get("db") is registry.get("db@1") is not two
        assert registry.resolve("db") == registry.resolve("db@latest") == "db_v2"
        assert registry.resolve("db", "lowest") == "db"
        with pytest.raises(ModuleNotFoundError):
            registry.get("db@3")

    def test_a_call_names_an_exact_id_so_that_acl_rules_hold(self, registry):
        assert not registry.has("db@2")
        with pytest.raises(ModuleNotFoundError):
            registry.get_definition("db@2")


@pytest.mark.req("R-5.2-09")
def test_the_callers_of_the_metadata_file_are_enforced(project, write):
    write("extensions/a.py", module_class())
    write("extensions/a_meta.yaml", "allowed_callers: ['orchestrator.*']\n")
    registry = Registry()
    registry.discover()

    with pytest.raises(ACLDeniedError):
        Executor(registry).call("a", {})


class TestLeftovers:
    def test_a_metadata_file_of_no_module_is_told(self, project, write, caplog):
        write("extensions/shop/price.py", module_class())
        write("extensions/shop/prise_meta.yaml", "allowed_callers: [api.*]")

        assert Registry().discover() == ["shop.price"]
        assert [(each.levelname, "prise_meta.yaml" in each.message) for each in caplog.records] == [("WARNING", True)]

    def test_a_yaml_file_beside_bindings_is_told(self, project, write, caplog):
        write("extensions/price.py", module_class())
        write("bindings/price.yaml", "bindings: []")

        assert Registry().discover() == ["price"]
        assert ["bindings/price.yaml' is not read" in each.message for each in caplog.records] == [True]
