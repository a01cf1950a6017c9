import asyncio
import builtins
import sys
from contextvars import ContextVar
from pathlib import Path

import pytest

from apcore import BindingLoader, Config, Executor, build_app
from apcore.errors import (
    InvalidInputError,
    InvalidModuleIdError,
    ModuleDisabledError,
    ModuleLoadError,
    ModuleNotFoundError,
)
from apcore.registry import tool_name
from tests.apcore.registry.samples import FUNCTION, LAZY, source


class TestFirstUse:
    USES = {
        "get": lambda registry: registry.get("a"),
        "a version": lambda registry: registry.get("a@1"),
        "resolve": lambda registry: registry.resolve("a"),
        "get_definition": lambda registry: registry.get_definition("a"),
        "describe": lambda registry: registry.describe("a"),
        "export_schema": lambda registry: registry.export_schema("a", profile="mcp"),
        "find": lambda registry: registry.find("works"),
        "list": lambda registry: registry.list(),
        "list by tags": lambda registry: registry.list(tags=["x"], include_hidden=True),
        "error_codes": lambda registry: registry.error_codes,
        "call": lambda registry: Executor(registry).call("a", {}),
        "call_async": lambda registry: asyncio.run(Executor(registry).call_async("a", {})),
        "validate": lambda registry: Executor(registry).validate("a", {}),
    }

    @pytest.mark.req("R-9.1-16")
    @pytest.mark.parametrize("use", USES.values(), ids=USES)
    def test_the_file_is_imported_at_the_first_use_and_once(self, lazy, events, use):
        registry = lazy(a=source("a"))

        use(registry)

        assert events == ["a import", "a load"]
        assert Executor(registry).call("a", {}) == {"name": "a"}
        use(registry)
        assert events == ["a import", "a load"]

    def test_questions_about_ids_import_nothing(self, lazy, events, project):
        registry = lazy(a=source("a"), b=source("b"))

        assert registry.has("a")
        assert registry.has_module("b")
        assert not registry.has("c")
        assert registry.list(include_hidden=True) == ["a", "b"]
        assert registry.list("b", include_hidden=True) == ["b"]
        assert registry.file_of("a") == str(Path("extensions", "a.py"))
        assert registry.module_id_of_tool("a") == "a"
        assert registry.get_loaded("a") is None
        with pytest.raises(ModuleNotFoundError):
            registry.get("c")
        with pytest.raises(ModuleNotFoundError):
            Executor(registry).call("c", {})
        assert events == []

    def test_what_is_asked_about_a_part_imports_that_part(self, lazy, events):
        registry = lazy(a=source("a"), b=source("b"), b_v2=source("b_v2"), c=source("c"))

        assert registry.list("a") == ["a"]
        assert events == ["a import", "a load"]
        assert registry.get("b@2") is registry.get_loaded("b_v2").module
        assert events[2::2] == ["b import", "b_v2 import"]
        assert registry.get_loaded("c") is None

    def test_whether_it_is_hidden_is_known_then(self, lazy):
        registry = lazy(a=source("a", attributes='annotations = {"discoverable": False}'), b=source("b"))

        assert registry.list(include_hidden=True) == ["a", "b"]
        assert registry.list() == ["b"]

    def test_functions_of_one_file_are_loaded_one_by_one(self, project, write, registry):
        write(
            "extensions/mail.py",
            "from apcore import module\n"
            + FUNCTION.format(options='id="email.send"', name="send")
            + FUNCTION.format(options="", name="fetch"),
        )

        assert registry.discover(LAZY) == ["email.send", "mail.fetch"]
        assert Executor(registry).call("mail.fetch", {"text": "x"}) == {"text": "x"}
        assert registry.get_loaded("email.send") is None
        assert Executor(registry).call("email.send", {"text": "y"}) == {"text": "y"}

    def test_it_is_told_when_it_is_loaded(self, lazy):
        registry = lazy(a=source("a"))
        told = []
        registry.on("register", lambda module_id, module: told.append((module_id, module)))

        module = registry.get("a")

        assert told == [("a", module)]

    def test_a_module_that_is_switched_off_is_not_imported(self, lazy, events):
        app = build_app(registry=lazy(a=source("a")))
        app.toggles.set("a", enabled=False)

        with pytest.raises(ModuleDisabledError):
            app.executor.call("a", {})
        assert events == []

    def test_an_async_call_imports_where_other_code_of_modules_runs(self, lazy, events):
        """Not on the thread of the loop, where no file could run a loop of its own."""
        top = "import asyncio\nasyncio.run(asyncio.sleep(0))"
        registry = lazy(a=source("a", top=top))

        assert asyncio.run(Executor(registry).call_async("a", {})) == {"name": "a"}

    def test_what_an_import_does_is_no_part_of_the_call_that_causes_it(self, lazy, events, monkeypatch):
        """A measured run, for one, is known by its context; see the audit hook of django_apcore."""
        variable = ContextVar("variable", default="none")
        monkeypatch.setattr(builtins, "apcore_test_variable", variable, raising=False)
        ask = "builtins.apcore_test_events.append(builtins.apcore_test_variable.get())"
        registry = lazy(a=source("a", top="_seen = builtins.apcore_test_variable.get()", load=ask))
        registry.on("register", lambda module_id, module: events.append(variable.get()))

        variable.set("some")
        registry.get("a")

        assert events == ["a import", "a load", "none", "none"]
        assert sys.modules[type(registry.get("a")).__module__]._seen == "none"

    def test_files_beside_it_count_as_they_do_otherwise(self, project, write, events, registry):
        write("extensions/a.py", source("a"))
        write("extensions/a_meta.yaml", "tags: [beside]\nallowed_callers: []\n")
        write("bindings/a.binding.yaml", "bindings: [{module_id: a, display: {alias: work}}]")
        write("extensions/b.py", "class B:\n    description = 'x'\n    def execute(self, inputs, context): return {}\n")
        schema = 'version: "1.0.0"\nmodule_id: "b"\ndescription: x\ninput_schema: {type: object, title: In}\n'
        write(
            "schemas/b.schema.yaml", f'$schema: "https://apcore.dev/schema/v1"\n{schema}output_schema: {{type: object}}'
        )

        assert registry.discover(LAZY) == ["a", "b"]
        write("extensions/a_meta.yaml", "tags: [too late]\n")

        definition = registry.get_definition("a")
        assert (definition.tags, definition.allowed_callers) == (("beside",), ())
        assert definition.metadata["display"]["alias"] == "work"
        assert registry.get_definition("b").input_schema["title"] == "In"


class TestWhereItIsSwitchedOn:
    @pytest.fixture
    def is_lazy(self, project, write, events):
        def is_lazy(config):
            events.clear()
            for each in [each for each in sys.modules if each.startswith("apcore_extensions")]:
                del sys.modules[each]
            app = build_app(config=config)
            assert app.registry.list(include_hidden=True) == ["a"]
            return events == []

        write("extensions/a.py", source("a"))
        return is_lazy

    @pytest.mark.req("R-9.1-16")
    def test_somebody_has_to_name_it(self, is_lazy, write, monkeypatch):
        on, silent = {"extensions": {"root": "extensions", "lazy_load": True}}, {"extensions": {"root": "extensions"}}
        by_code = Config.from_defaults()
        by_code.set("extensions.lazy_load", True)
        head = 'version: "1.0.0"\nproject: {name: a}\n'
        file = write("named.yaml", f"{head}extensions: {{root: extensions, lazy_load: true}}")
        namespaced = write(
            "spaces.yaml", "apcore: {version: '1.0.0', project: {name: a}, extensions: {lazy_load: true}}"
        )

        assert is_lazy(on)
        assert is_lazy(by_code)
        assert is_lazy(Config.load(file))
        assert is_lazy(Config.load(namespaced))
        assert not is_lazy(silent)
        assert not is_lazy(Config.from_defaults())
        assert not is_lazy({"extensions": {"root": "extensions", "lazy_load": False}})
        monkeypatch.setenv("APCORE_EXTENSIONS_LAZY_LOAD", "true")
        assert is_lazy(Config.from_defaults())


class TestDiscovery:
    def test_a_file_that_is_no_python_is_an_error_at_once(self, project, write, events, registry):
        write("extensions/a.py", source("a"))
        write("extensions/b.py", "def (")

        with pytest.raises(ModuleLoadError, match=r"b\.py.*SyntaxError"):
            registry.discover(LAZY)
        assert registry.list(include_hidden=True) == []

    def test_a_file_that_does_not_foretell_its_modules_is_imported(self, project, write, events, registry):
        write("extensions/a.py", source("a"))
        write("extensions/b.py", source("b") + "\nfor name in ['Worker']:\n    globals()[name].tags = [name]\n")

        assert registry.discover(LAZY) == ["b", "a"]
        assert events == ["b import", "b load"]

    @pytest.mark.parametrize(
        ("module_id", "error"),
        [
            ("b.c", InvalidInputError),
            ("a", InvalidInputError),
            ("x.system.y", InvalidModuleIdError),
            ("A", InvalidModuleIdError),
        ],
    )
    def test_an_id_that_cannot_be_is_found_at_discovery(self, project, write, registry, module_id, error):
        write("extensions/a.py", source("a"))
        write("extensions/b.py", "from apcore import module\n" + FUNCTION.format(options='id="b.c"', name="one"))
        write(
            "extensions/z.py", "from apcore import module\n" + FUNCTION.format(options=f'id="{module_id}"', name="two")
        )

        with pytest.raises(error) as caught:
            registry.discover(LAZY)
        assert "z.py" in caught.value.__notes__[0]
        assert registry.list(include_hidden=True) == []

    def test_an_id_is_taken_while_its_module_waits(self, lazy, events, write):
        registry = lazy(a=source("a"))

        with pytest.raises(InvalidInputError, match="exists already"):
            registry.register("a", type("Other", (), {}))
        item = "bindings: [{module_id: a, target_id: 'tests.apcore.discovery.targets:due'}]"
        with pytest.raises(InvalidInputError, match="exists already"):
            BindingLoader().load_bindings(write("a.binding.yaml", item), registry)
        registry.unregister("a")
        registry.register("a", _worker())
        with pytest.raises(InvalidInputError, match="exists already"):
            registry.discover(LAZY)
        assert events == []

    def test_what_has_not_changed_goes_on_waiting(self, lazy, events, write):
        registry = lazy(a=source("a"), b=source("b"))
        loaded = registry.get("b")

        assert registry.discover(LAZY) == []
        assert events == ["b import", "b load"]
        write("extensions/a_meta.yaml", "tags: [new]")
        write("extensions/b_meta.yaml", "tags: [new]")
        assert registry.discover(LAZY) == ["b", "a"]
        assert events == ["b import", "b load"]
        assert registry.get("b") is loaded
        assert registry.list(tags=["new"]) == ["a", "b"]

    def test_a_file_that_changed_is_read_again(self, lazy, events, write):
        registry = lazy(a=source("a"), b=source("b"))

        write("extensions/a.py", "from apcore import module\n" + FUNCTION.format(options="", name="send"))
        write("extensions/b.py", source("b") + "\nglobals()\n")
        assert registry.discover(LAZY) == ["b", "a.send"]
        assert registry.list() == ["a.send", "b"]

    def test_a_file_that_is_gone_is_missed_at_the_first_use(self, lazy, project):
        registry = lazy(a=source("a"))

        (project / "extensions/a.py").unlink()
        assert registry.discover(LAZY) == []
        with pytest.raises(ModuleLoadError, match=r"a\.py"):
            registry.get("a")

    def test_a_discovery_that_fails_changes_nothing(self, lazy, events, write):
        registry = lazy(a=source("a"))
        write("extensions/a_meta.yaml", "tags: [new]")
        write("extensions/b.py", source("b", load="1 / 0") + "\nglobals()\n")

        with pytest.raises(ModuleLoadError):
            registry.discover(LAZY)
        assert registry.list(include_hidden=True) == ["a"]
        assert registry.get_definition("a").tags == ()

    def test_a_discovery_that_fails_keeps_nothing_that_was_asked_for_within_it(self, lazy, events, write, registry):
        lazy(a=source("a"))
        told = []
        registry.on("register", lambda module_id, module: told.append(module_id))
        write("extensions/b.py", source("b", load='builtins.apcore_test_registry.get("a")') + "\nglobals()\n")
        broken = write("extensions/c.py", source("c", load="1 / 0") + "\nglobals()\n")
        write("extensions/d.py", source("d"))

        with pytest.raises(ModuleLoadError):
            registry.discover(LAZY)
        assert "a load" in events, "b asked for it"
        assert (registry.get_loaded("a"), registry.list(include_hidden=True), told) == (None, ["a"], [])

        broken.unlink()
        assert registry.discover(LAZY) == ["a", "b", "d"]
        assert told == ["a", "b"]

    def test_a_presentation_may_come_later(self, lazy, events, write):
        registry = lazy(a=source("a"))
        file = write("later.binding.yaml", "bindings: [{module_id: a, display: {alias: work}}]")

        BindingLoader().load_bindings(file, registry)

        assert events == []
        assert registry.get_definition("a").metadata["display"]["alias"] == "work"

    def test_a_discovery_without_the_switch_loads_what_waits(self, lazy, events):
        registry = lazy(a=source("a"))

        assert registry.discover() == ["a"]
        assert events == ["a import", "a load"]

    def test_tool_names_are_told_apart_before_anything_is_imported(self, project, write, events, registry):
        for name in ("a/b_c", "a_b/c"):
            write(f"extensions/{name}.py", source(name))
        registry.discover(LAZY)

        with pytest.raises(InvalidInputError, match="would both be exported"):
            registry.module_id_of_tool(tool_name("a.b_c"))
        assert events == []
        registry.get("a.b_c")
        with pytest.raises(InvalidInputError, match="would both be exported"):
            registry.export_schema("a.b_c", profile="openai")
        registry.unregister("a_b.c")
        assert registry.module_id_of_tool(tool_name("a.b_c")) == "a.b_c"


def _worker():
    class Worker:
        description = "By hand"
        input_schema = output_schema = {"type": "object"}

        def execute(self, inputs, context):
            return {}

    return Worker


class TestLeaving:
    @pytest.mark.parametrize("leave", [lambda r: r.unregister("a"), lambda r: r.safe_unregister("a") == (True, None)])
    def test_what_waits_can_be_unregistered(self, lazy, events, leave):
        registry = lazy(a=source("a"), b=source("b"))
        told = []
        registry.on("unregister", lambda module_id, module: told.append(module_id))

        assert leave(registry)

        assert registry.list(include_hidden=True) == ["b"]
        assert not registry.unregister("a")
        with pytest.raises(ModuleNotFoundError):
            registry.get("a")
        assert (events, told) == ([], [])
        assert registry.discover(LAZY) == ["a"]

    def test_what_was_used_can_be_unregistered_like_any_other(self, lazy):
        registry = lazy(a=source("a"))
        registry.get("a")

        assert registry.unregister("a")
        assert not registry.has("a")

    def test_nothing_waits_when_all_is_closed(self, lazy, events):
        registry = lazy(a=source("a"), b=source("b"))
        registry.get("b")

        registry.close()

        assert registry.list(include_hidden=True) == []
        assert events == ["b import", "b load"]

    def test_a_reload_takes_up_what_the_file_holds_now(self, lazy, write):
        registry = lazy(a=source("a"))

        write("extensions/a.py", source("a", attributes='version = "2.0.0"'))
        assert registry.reload("a").version == "2.0.0"
        assert registry.get("a").version == "2.0.0"
