import functools
import importlib
import sys
from pathlib import Path

import pytest

from apcore.modules import FunctionModule, PlannedModule
from apcore.modules.source import source_hash


def add(a: int) -> dict:
    return {}


def from_file(path, code):
    path.write_text(code)
    namespace = {"__name__": "somewhere"}
    exec(compile(code, str(path), "exec"), namespace)
    return namespace


def test_a_helper_in_the_same_file_counts(tmp_path):
    code = "def helper():\n    return dict()\ndef f(a: int) -> dict:\n    return helper{}\n"
    first = from_file(tmp_path / "first.py", code.format("()"))["f"]
    second = from_file(tmp_path / "second.py", code.format("() or None"))["f"]
    assert source_hash(FunctionModule(first, id="a.b")) != source_hash(FunctionModule(second, id="a.b"))


def test_wrapping_makes_no_difference():
    @functools.wraps(add)
    def wrapper(a: int) -> dict:
        return add(a)

    plain = source_hash(FunctionModule(add, id="a.b"))
    assert source_hash(FunctionModule(wrapper, id="a.b")) == plain
    assert source_hash(FunctionModule(functools.partial(add, a=1), id="a.b")) == plain


def test_instances_of_one_class_are_the_same_code():
    class First:
        pass

    class Second(First):
        pass

    assert source_hash(First()) == source_hash(First())
    assert source_hash(First()) != source_hash(Second())


def test_code_without_a_file_counts_with_its_name():
    namespace = {"__name__": "typed_into_a_shell"}
    exec("class Typed: pass\nclass Other: pass", namespace)
    assert source_hash(namespace["Typed"]()) == source_hash(namespace["Typed"]())
    assert source_hash(namespace["Typed"]()) != source_hash(namespace["Other"]())


def test_the_standard_library_does_not_count():
    class Planned(PlannedModule):
        def plan(self, inputs, context): ...

        def apply(self, plan, context): ...

    assert len(source_hash(Planned())) == 64


MODULES = """
LIMIT = 1
class Class: pass
def function(a: int) -> dict: return {}
"""


@pytest.fixture
def imported(tmp_path, monkeypatch):
    """A Python module in a file."""
    (tmp_path / "limited_modules.py").write_text(MODULES)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("limited_modules")
    del sys.modules["limited_modules"]


def hashes_in(python):
    return source_hash(python.Class()), source_hash(FunctionModule(python.function, id="a.b"))


def test_an_edited_file_counts_when_it_is_imported_again(imported):
    running = hashes_in(imported)
    Path(imported.__file__).write_text(MODULES.replace("1", "100"))
    assert hashes_in(imported) == running, "what runs is the old text"

    reloaded = hashes_in(importlib.reload(imported))
    assert all(new != old for new, old in zip(reloaded, running, strict=True))

    Path(imported.__file__).write_text(MODULES)
    del sys.modules["limited_modules"]
    assert hashes_in(importlib.import_module("limited_modules")) == running, "the text is the first one again"


def test_a_function_of_a_python_module_without_a_file_counts_with_its_name(monkeypatch):
    python = type(sys)("typed_in")
    exec("def function(a: int) -> dict: return {}", python.__dict__)
    monkeypatch.setitem(sys.modules, "typed_in", python)
    assert len(source_hash(FunctionModule(python.function, id="a.b"))) == 64


def test_a_function_whose_file_cannot_be_read_counts_with_its_name(tmp_path):
    names = {"__name__": "typed_in"}
    exec(compile("def function(a: int) -> dict: return {}", tmp_path, "exec"), names)  # a directory has no text
    assert len(source_hash(FunctionModule(names["function"], id="a.b"))) == 64
