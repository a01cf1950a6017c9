import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apcore.discovery.files import FilePlace
from apcore.discovery.foretelling import foretold_ids
from apcore.errors import ModuleError, ModuleLoadError
from tests.apcore.discovery.foretelling.samples import (
    EXECUTE,
    HELPERS,
    IMPORTS,
    PLAN,
    SCHEMAS,
    class_text,
    function_text,
)
from tests.apcore.discovery.samples import module_class

CLASS_NAMES = ("Worker", "_Worker", "Order")
FUNCTION_NAMES = ("send", "_send", "fetch")
classes = st.builds(
    class_text,
    st.sampled_from(CLASS_NAMES),
    st.sampled_from(["", "", "Module", "PlannedModule", "Base", "Plain", "BaseModel", "Exception", *CLASS_NAMES]),
    st.sampled_from(["", SCHEMAS, "input_schema: dict\noutput_schema: dict\n", "execute = None\n"]),
    st.sampled_from(["", EXECUTE, PLAN, "@property\n" + EXECUTE, SCHEMAS]),
    decorator=st.sampled_from(["", "", "@dataclass\n", "@unchanged\n"]),
)
functions = st.builds(
    function_text,
    st.sampled_from(FUNCTION_NAMES),
    st.sampled_from(["", "@module", '@module(id="a.b")', "@apcore.module()", "@tool", "@module\n@functools.lru_cache"]),
)
others = st.sampled_from(
    [
        *("X = 1", "alias = send", "Alias = Worker", "service = Worker()", "made = make('x')", "_made = make('x')"),
        *("module(send, id='c.d')", "send = module(send)", "tool(send, id='e.f')", "second = unchanged(send)"),
        *("__all__ = ['Worker', 'send']", "del Worker", "Worker.input_schema = {}", "globals()['Y'] = make('y')"),
        *("_helpers.LOADED.append(send)", "from ._helpers import *", "if _helpers.NUMBER:\n    Worker = None"),
        *("for _ in range(2):\n    module(send, id='g.h')", "M = type('M', (Base,), {})", "v = [module(send)]"),
    ]
)


@given(st.lists(classes | functions | others, min_size=1, max_size=5), st.booleans())
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_foretold_is_what_an_import_gives(tmp_path, pieces, multi_class):
    (tmp_path / "_helpers.py").write_text(HELPERS)
    name = f"m{len(list(tmp_path.iterdir()))}"
    file = tmp_path / f"{name}.py"
    file.write_text(IMPORTS + "\n\n".join(pieces) + "\n")
    place = FilePlace(str(file), name, str(tmp_path), multi_class)

    foretold = place.foretell()

    if foretold is not None:
        try:
            found = place.all()
        except ModuleError as error:
            if error.cause is None:
                raise
            return  # the file fails, which is for its first use
        assert {each.module_id for each in found} == {each.module_id for each in foretold}


def test_nothing_is_run(write):
    write("extensions/__init__.py", "raise SystemExit(3)")
    file = write("extensions/a.py", f"import sys\nsys.a_mark = True\n{module_class()}\nraise SystemExit(3)")

    assert foretold_ids(file, "a") == ["a"]
    assert not hasattr(sys, "a_mark")
    assert str(file) not in {getattr(each, "__file__", None) for each in sys.modules.values()}


@pytest.mark.parametrize(
    "content",
    [
        b"def (",
        b"return 3",
        b"def f(a, a): ...",
        b"x = '\xff'",
        b"# coding: no-such-coding",
        b"x\0 = 1",
    ],
)
def test_what_is_no_python_is_an_error_that_names_the_file(write, content):
    file = write("extensions/a.py")
    file.write_bytes(content)

    with pytest.raises(ModuleLoadError, match=r"a\.py.*(SyntaxError|ValueError)") as caught:
        foretold_ids(file, "a")
    assert isinstance(caught.value.cause, SyntaxError | ValueError)
    assert caught.value.details["file"] == str(file)


def test_an_expression_that_is_too_long_is_no_reason_to_fail(write):
    assert foretold_ids(write("a.py", f"X = {' + '.join('1' * 900)}\n{module_class()}"), "a") is None


@pytest.mark.parametrize(
    ("text", "entry", "ids"),
    [
        (module_class("One") + module_class("Two"), "Two", ["a"]),
        (class_text("_Hidden", "Base"), "_Hidden", ["a"]),
        ("from apcore import module\n" + function_text("send", "@module(id='x.y')"), "send", ["a"]),
        (module_class("One"), "Two", None),
        ("Two = 1\n" + module_class("One"), "Two", None),
        (module_class("One") + "import x\nx.f(One)", "One", None),
    ],
)
def test_an_entry_point_is_foretold_if_it_stands_there(write, text, entry, ids):
    assert foretold_ids(write("a.py", text), "a", entry=entry) == ids


def test_a_package_of_that_name_would_be_imported_in_its_place(write):
    file = write("extensions/a.py", module_class())
    assert foretold_ids(file, "a") == ["a"]

    write("extensions/a/__init__.py", "")
    assert foretold_ids(file, "a") is None
    assert foretold_ids(write("extensions/b.pyw", module_class()), "b") is None
