import pytest

from apcore import discover_multi_class, resolve_entry_point
from apcore.discovery import EntryPoint
from apcore.errors import (
    AmbiguousEntryPointError,
    InvalidModuleIdError,
    ModuleIdConflictError,
    ModuleLoadError,
    NoModuleClassError,
)
from apcore.ids import is_canonical_id
from tests.apcore.discovery.samples import module_class


@pytest.mark.req("R-5.2-01")
def test_the_metadata_decides(write):
    file = write("db_params.py", module_class("One") + module_class("Two"))

    assert resolve_entry_point({"entry_point": "db_params:Two"}, str(file), "python") == EntryPoint("db_params", "Two")


@pytest.mark.parametrize("text", ["db_params", ":X", "a:", "a:b:c", "a:not a name", "../a:X"])
def test_an_entry_point_of_another_form_is_refused(write, text):
    with pytest.raises(ModuleLoadError, match="filename:ClassName"):
        resolve_entry_point({"entry_point": text}, write("db_params.py"), "python")


@pytest.mark.req("R-5.2-02", "R-5.2-05")
@pytest.mark.parametrize("meta", [None, {}, {"entry_point": None}])
def test_a_single_class_is_taken_whatever_its_name(write, meta):
    file = write("db_params.py", module_class("Anything"))

    assert resolve_entry_point(meta, file, "python") == EntryPoint("db_params", "Anything")


@pytest.mark.req("R-5.2-05")
def test_other_languages_are_inferred_from_the_name():
    assert resolve_entry_point(None, "a/db_params.rs", "rust") == EntryPoint("db_params", "DbParams")


@pytest.mark.req("R-5.2-03", "R-2.1.1-02")
def test_several_classes_are_ambiguous(write):
    file = write("db_params.py", module_class("DbParams") + module_class("Other"))

    with pytest.raises(AmbiguousEntryPointError, match="DbParams, Other") as caught:
        resolve_entry_point(None, file, "python")
    assert caught.value.code == "AMBIGUOUS_ENTRY_POINT"
    assert caught.value.details == {"file": str(file), "classes": ["DbParams", "Other"]}


@pytest.mark.req("R-5.2-04")
@pytest.mark.parametrize(
    "text", ["", "def helper():\n    pass\n", "class Helper:\n    pass\n", "class _X:\n  execute = print"]
)
def test_a_file_without_a_module_class_is_an_error(write, text):
    with pytest.raises(NoModuleClassError, match=r"helper\.py"):
        resolve_entry_point(None, write("helper.py", text), "python")


@pytest.mark.req("R-5.2-06")
def test_imported_and_abstract_classes_do_not_count(write, extensions):
    write("extensions/other.py", module_class("Other"))
    file = write(
        "extensions/own.py",
        "from abc import ABC, abstractmethod\n"
        "from apcore import Module, PlannedModule\n"
        "from .other import Other\n"
        "class Base(ABC):\n"
        "    @abstractmethod\n"
        "    def execute(self, inputs, context): ...\n" + module_class("Own") + "Alias = Own\n",
    )

    assert resolve_entry_point(None, file, extensions_root=extensions).class_name == "Own"


@pytest.mark.req("R-2.1.1-01", "R-2.1.1-03", "R-2.1.1-04", "R-2.7-04")
def test_every_module_class_of_a_file_gets_an_id(extensions, write):
    classes = ("Addition", "MathOps", "HTTPSender")
    helpers = "class Helper:\n    def execute(self):\n        return 1\n\nclass Value:\n    pass\n"
    file = write("extensions/tools/math.py", helpers + "".join(map(module_class, classes)))

    found = discover_multi_class(str(file), str(extensions))

    assert {each.module_id: each.module.__name__ for each in found} == {
        "tools.math.addition": "Addition",
        "tools.math.math_ops": "MathOps",
        "tools.math.http_sender": "HTTPSender",
    }
    assert all(is_canonical_id(each.module_id) for each in found)


def test_all_limits_what_a_file_exports(extensions, write):
    file = write(
        "extensions/a.py", "__all__ = ['One', '_Two']\n" + "".join(map(module_class, ("One", "_Two", "Three")))
    )

    assert [each.module_id for each in discover_multi_class(file, extensions)] == ["a.one", "a.two"]


@pytest.mark.req("R-2.1.1-07")
def test_a_single_class_has_the_id_of_its_file(extensions, write):
    file = write("extensions/tools/math.py", module_class("Addition"))

    assert [each.module_id for each in discover_multi_class(file, extensions)] == ["tools.math"]


@pytest.mark.req("R-2.1.1-06")
def test_two_classes_of_one_segment_are_a_conflict(extensions, write):
    file = write("extensions/net.py", module_class("HTTPSender") + module_class("HttpSender"))

    with pytest.raises(ModuleIdConflictError, match=r"net\.http_sender") as caught:
        discover_multi_class(file, extensions)
    assert caught.value.details["classes"] == ["HTTPSender", "HttpSender"]


@pytest.mark.req("R-2.1.1-05")
@pytest.mark.parametrize("name", ["Import", "X" + "y" * 200])
def test_the_id_with_the_class_is_checked_again(extensions, write, name):
    file = write("extensions/net.py", module_class(name) + module_class("Other"))

    with pytest.raises(InvalidModuleIdError):
        discover_multi_class(file, extensions)
