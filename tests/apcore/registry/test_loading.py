import builtins
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apcore import ACL, Executor, Registry
from apcore.errors import (
    CircularDependencyError,
    DependencyNotFoundError,
    DependencyVersionMismatchError,
    ModuleError,
    ModuleLoadError,
    ModuleNotFoundError,
    NoModuleClassError,
)
from tests.apcore.registry.samples import FUNCTION, LAZY, source


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
        uses = [registry.get, registry.describe, lambda _: registry.list()]

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

    def test_a_caller_learns_nothing_of_the_file(self, lazy, caplog):
        registry = lazy(a=source("a", top="raise RuntimeError('no key hunter2')"))
        executor = Executor(registry, acl=ACL([], "deny"))

        with pytest.raises(ModuleLoadError) as caught:
            executor.call("a", {})
        told = repr(caught.value.to_dict())
        assert "Module 'a' cannot be loaded" in told
        assert not any(each in told for each in ("a.py", "RuntimeError", "hunter2"))
        assert "hunter2" in caplog.text, "the log says why"

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
    with TemporaryDirectory() as project:
        one, two = Path(project, "one"), Path(project, "two")
        for root in (one, two):
            root.mkdir()
            for number, (kind, has_metadata) in enumerate(files):
                (root / f"m{number}.py").write_text(PIECES[kind])
                if has_metadata:
                    (root / f"m{number}_meta.yaml").write_text("tags: [beside]\nallowed_callers: [x.*]\n")
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
    except ModuleError as error:
        return type(error)
    return None
