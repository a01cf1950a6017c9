import asyncio
import builtins
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apcore import BindingLoader, Config, Executor, Registry, build_app
from apcore.errors import (
    CircularDependencyError,
    DependencyNotFoundError,
    DependencyVersionMismatchError,
    InvalidInputError,
    InvalidModuleIdError,
    ModuleDisabledError,
    ModuleLoadError,
    ModuleNotFoundError,
    NoModuleClassError,
)
from apcore.registry import tool_name

LAZY = {"extensions": {"lazy_load": True}}
MODULE = """
import builtins

builtins.apcore_test_events.append("{name} import")
{top}

class Worker:
    description = "Works"
    input_schema = {{"type": "object"}}
    output_schema = {{"type": "object"}}
    {attributes}

    def on_load(self):
        builtins.apcore_test_events.append("{name} load")
        {load}

    def execute(self, inputs, context):
        return {{"name": "{name}"}}
"""
FUNCTION = '''
@module({options})
def {name}(text: str) -> dict:
    """A function"""
    return {{"text": text}}
'''


def source(name, *, top="", attributes="", load=""):
    return MODULE.format(name=name, top=top, attributes=attributes, load=load)


@pytest.fixture
def events(monkeypatch):
    """What the modules of a test write down."""
    events = []
    monkeypatch.setattr(builtins, "apcore_test_events", events, raising=False)
    return events


@pytest.fixture
def registry(monkeypatch):
    """A registry that the modules of a test can ask as well."""
    registry = Registry()
    monkeypatch.setattr(builtins, "apcore_test_registry", registry, raising=False)
    return registry


@pytest.fixture
def lazy(project, write, events, registry):
    """The registry with the discovered modules of these files, none of which was imported."""

    def lazy(**texts):
        for name, text in texts.items():
            write(f"extensions/{name}.py", text)
        assert registry.discover(LAZY) == sorted(texts)
        assert events == []
        return registry

    return lazy


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


class TestDependencies:
    def test_what_is_needed_is_loaded_first(self, lazy, events, write):
        write("extensions/b_meta.yaml", "dependencies: {requires: [c], optional: [d]}")
        registry = lazy(
            a=source("a", attributes='dependencies = ["b"]'), b=source("b"), c=source("c"), d=source("d"), e=source("e")
        )
        told = []
        registry.on("register", lambda module_id, module: told.append(module_id))

        registry.get("a")

        assert [each for each in events if each.endswith("load")] == [f"{each} load" for each in told]
        assert told[-2:] == ["b", "a"]
        assert sorted(told) == ["a", "b", "c", "d"]
        assert registry.get_loaded("e") is None

    def test_what_is_loaded_at_once_may_need_what_waits(self, project, write, events, registry):
        write("extensions/a.py", source("a", attributes='dependencies = ["b"]') + "\nglobals()\n")
        write("extensions/b.py", source("b"))
        write("extensions/c.py", source("c"))

        assert registry.discover(LAZY) == ["b", "a", "c"]
        assert [each for each in events if each.endswith("load")] == ["b load", "a load"]

    def test_versions_are_chosen_among_all(self, lazy):
        need = 'dependencies = [{{"module_id": "db", "version": "{}"}}]'
        registry = lazy(
            a=source("a", attributes=need.format("^2.0.0")),
            b=source("b", attributes=need.format("^3.0.0")),
            db=source("db"),
            db_v2=source("db_v2", attributes='version = "2.1.0"'),
        )

        registry.get("a")
        assert registry.get_loaded("db_v2") is not None
        with pytest.raises(DependencyVersionMismatchError):
            registry.get("b")

    @pytest.mark.parametrize(
        ("needed_by_b", "error"), [("['a']", CircularDependencyError), ("['no.such']", DependencyNotFoundError)]
    )
    def test_what_cannot_be_met_is_an_error_at_the_first_use(self, lazy, events, needed_by_b, error):
        registry = lazy(
            a=source("a", attributes='dependencies = ["b"]'),
            b=source("b", attributes=f"dependencies = {needed_by_b}"),
            c=source("c"),
        )

        for _ in range(2):
            with pytest.raises(error):
                registry.get("a")
        assert registry.get("c")
        assert [each for each in events if each.endswith("load")] == ["c load"]
        assert registry.list(include_hidden=True) == ["a", "b", "c"]

    def test_an_optional_one_may_fail(self, lazy, events, caplog):
        need = 'dependencies = [{"module_id": "b", "optional": True}, {"module_id": "c", "optional": True}]'
        registry = lazy(a=source("a", attributes=need), b=source("b", top="1 / 0"), c=source("c", load="1 / 0"))

        assert Executor(registry).call("a", {}) == {"name": "a"}
        assert len([each for each in caplog.records if each.levelname == "WARNING"]) == 2
        for name in "bc":
            with pytest.raises(ModuleLoadError):
                registry.get(name)

    def test_who_is_asked_for_is_not_optional(self, lazy):
        """Though the module that it needs could do without it."""
        could_use = 'dependencies = [{"module_id": "a", "version": "^9.0.0", "optional": True}]'
        registry = lazy(
            a=source("a", attributes='dependencies = ["b"]', load="1 / 0"), b=source("b", attributes=could_use)
        )

        with pytest.raises(ModuleLoadError, match="'a'"):
            registry.get("a")
        assert registry.get("b")


class TestFailures:
    @pytest.mark.parametrize("broken", [{"top": "1 / 0"}, {"load": "1 / 0"}, {"top": "raise SystemExit(3)"}])
    def test_each_user_gets_the_error_and_the_next_one_tries_again(self, lazy, events, write, broken, caplog):
        registry = lazy(a=source("a", **broken), b=source("b"))
        uses = [
            registry.get,
            registry.describe,
            lambda name: Executor(registry).call(name, {}),
            lambda _: registry.list(),
        ]

        for use in uses:
            with pytest.raises(ModuleLoadError) as caught:
                use("a")
            assert isinstance(caught.value.cause, ZeroDivisionError | SystemExit)
            assert "a.py" in caught.value.message + "".join(getattr(caught.value, "__notes__", ()))
        assert events.count("a import") == (len(uses) if "top" in broken else 1)
        told = [each for each in caplog.records if "'a' failed to load at its first use" in each.message]
        assert len(told) == len(uses)
        assert all(each.exc_info for each in told)
        assert Executor(registry).call("b", {}) == {"name": "b"}
        assert registry.has("a")

        if "top" in broken:
            write("extensions/a.py", source("a", top="# mended, and of another size"))
            assert Executor(registry).call("a", {}) == {"name": "a"}

    def test_what_it_needs_stays_when_it_fails(self, lazy, events):
        """Others may be using it."""
        registry = lazy(a=source("a", attributes='dependencies = ["b"]', load="1 / 0"), b=source("b"))
        told = []
        registry.on("register", lambda module_id, module: told.append(module_id))

        for _ in range(2):
            with pytest.raises(ModuleLoadError):
                registry.get("a")

        assert events == ["a import", "b import", "b load", "a load", "a load"]
        assert told == ["b"]
        assert registry.get_loaded("b") is not None
        assert registry.list(include_hidden=True) == ["a", "b"]

    def test_more_than_was_foretold_is_an_error(self, lazy, write):
        registry = lazy(a=source("a"))
        write(
            "extensions/a.py", source("a") + "\nfrom apcore import module\n" + FUNCTION.format(options="", name="send")
        )

        with pytest.raises(ModuleLoadError, match=r"a\.py' defines a\.send as well"):
            registry.get("a")
        assert registry.list(include_hidden=True) == ["a"]
        assert registry.discover(LAZY) == ["a", "a.send"]
        assert registry.list() == ["a", "a.send"]

    def test_less_than_was_foretold_is_an_error_of_what_is_missing(self, project, write, registry):
        one = "from apcore import module\n" + FUNCTION.format(options="", name="one")
        write("extensions/a.py", one + FUNCTION.format(options="", name="two"))
        registry.discover(LAZY)
        write("extensions/a.py", one)

        with pytest.raises(NoModuleClassError, match=r"a\.py' does not define 'a\.two'"):
            registry.get("a.two")
        assert registry.get("a.one")


class TestAtTheSameTime:
    @pytest.mark.req("R-12.7.1-01", "R-12.7.1-02", "R-9.1-16")
    def test_fifty_threads_import_it_once(self, lazy, events):
        slow = "import time\ntime.sleep(0.05)"
        registry = lazy(a=source("a", top=slow, attributes='dependencies = ["b"]'), b=source("b", top=slow))
        executor, barrier = Executor(registry), threading.Barrier(50)

        def use(number):
            barrier.wait()
            called = executor.call("ab"[number % 2], {})
            return called["name"], registry.get("a"), registry.get("b")

        with ThreadPoolExecutor(50) as many:
            used = [each.result(30) for each in [many.submit(use, number) for number in range(50)]]

        assert sorted(events) == ["a import", "a load", "b import", "b load"]
        assert {name for name, _, _ in used} == {"a", "b"}
        assert len({id(a) for _, a, _ in used}) == len({id(b) for _, _, b in used}) == 1

    def test_nobody_gets_a_module_before_it_is_loaded(self, lazy, events):
        begun, may_end = threading.Event(), threading.Event()
        registry = lazy(a=source("a", load="builtins.apcore_test_gate()"), b=source("b"))
        registry.get("b")

        def gate():
            begun.set()
            assert may_end.wait(30)

        builtins.apcore_test_gate = gate
        try:
            with ThreadPoolExecutor(2) as two:
                first = two.submit(registry.get, "a")
                assert begun.wait(30)
                second = two.submit(registry.get, "a")
                assert registry.get_loaded("a") is None
                assert registry.has("a")
                assert Executor(registry).call("b", {}) == {"name": "b"}
                assert not second.done()
                may_end.set()
                assert first.result(30) is second.result(30)
        finally:
            may_end.set()
            del builtins.apcore_test_gate

    ASK = "builtins.apcore_test_registry.get({!r})"

    @pytest.mark.parametrize("where", ["top", "load"])
    def test_a_module_may_ask_for_another_one_while_it_is_loaded(self, lazy, events, where):
        registry = lazy(a=source("a", **{where: self.ASK.format("b")}), b=source("b"))

        assert Executor(registry).call("a", {}) == {"name": "a"}
        assert [each for each in events if each.endswith("load")] == (
            ["b load", "a load"] if where == "top" else ["a load", "b load"]
        )

    @pytest.mark.parametrize("where", ["top", "load"])
    def test_what_both_need_is_there_for_the_file_that_asks_for_it(self, lazy, events, where):
        """Though the files of all that `a` needs are imported before the first of them is admitted."""
        registry = lazy(
            a=source("a", attributes='dependencies = ["b", "c"]'),
            b=source("b"),
            c=source("c", **{where: self.ASK.format("b")}),
        )

        assert Executor(registry).call("a", {}) == {"name": "a"}
        assert [each for each in events if each.endswith("load")][-1] == "a load"
        assert len(events) == 6

    @pytest.mark.parametrize("where", ["top", "load"])
    def test_while_it_is_loaded_it_is_not_there_for_itself(self, lazy, events, where):
        registry = lazy(a=source("a", **{where: self.ASK.format("b")}), b=source("b", **{where: self.ASK.format("a")}))

        with pytest.raises(ModuleLoadError) as caught:
            registry.get("a")
        innermost = caught.value
        while isinstance(innermost.cause, Exception):
            innermost = innermost.cause
        assert isinstance(innermost, ModuleNotFoundError)
        assert innermost.module_id == "a"
        assert registry.list(include_hidden=True) == ["a", "b"]

    def test_lists_leave_out_what_is_just_being_imported(self, lazy, events):
        top, load = "_listed = builtins.apcore_test_registry.list()", "builtins.apcore_test_events.append(_listed)"
        registry = lazy(a=source("a", top=top, load=load), b=source("b"))

        registry.get("a")

        assert events[-1] == ["b"]


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


PIECES = {
    "class": source("class"),
    "class that needs": source("needing", attributes='dependencies = ["m0", {"module_id": "m1", "optional": True}]'),
    "functions": "from apcore import module\n"
    + FUNCTION.format(options="", name="one")
    + FUNCTION.format(options='tags=["x"]', name="two"),
    "unforeseen": source("unforeseen") + "\nfor each in 'ab':\n    setattr(Worker, 'tags', [each])\n",
    "hidden": source("hidden", attributes='annotations = {"discoverable": False}\n    version = "2.0.0"'),
}


@given(st.lists(st.tuples(st.sampled_from(sorted(PIECES)), st.booleans()), min_size=1, max_size=4), st.randoms())
@settings(max_examples=20, deadline=None)
def test_after_everything_was_used_there_is_no_difference(files, random):
    builtins.apcore_test_events = []
    eager, lazy = Registry(), Registry()
    with TemporaryDirectory() as one, TemporaryDirectory() as two:
        for root in (one, two):
            for number, (kind, has_metadata) in enumerate(files):
                Path(root, f"m{number}.py").write_text(PIECES[kind])
                if has_metadata:
                    Path(root, f"m{number}_meta.yaml").write_text("tags: [beside]\nallowed_callers: [x.*]\n")
        refusal = _refusal(lambda: eager.discover(one))
        config = {"extensions": {"root": two, "lazy_load": True}, "schema": {"root": one}}

        lazily = _refusal(lambda: lazy.discover(config))
        waiting = lazy.list(include_hidden=True)
        random.shuffle(waiting)
        for module_id in waiting:
            lazily = _refusal(lambda name=module_id: lazy.get(name)) or lazily

        assert lazily == refusal
        if refusal is None:
            assert lazy.list(include_hidden=True) == eager.list(include_hidden=True)
            for module_id in eager.list(include_hidden=True):
                assert lazy.describe(module_id).to_dict() == eager.describe(module_id).to_dict()
                assert _said(lazy, module_id) == _said(eager, module_id)
    del builtins.apcore_test_events


def _said(registry, module_id):
    definition = registry.get_definition(module_id)
    return definition.allowed_callers, definition.dependencies, definition.timeout_ms, definition.effect


def _refusal(attempt):
    try:
        attempt()
    except Exception as error:  # noqa: BLE001 - it is compared
        return type(error)
    return None
