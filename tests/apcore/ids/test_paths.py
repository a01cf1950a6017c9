import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.errors import IdTooLongError, InvalidPathError, InvalidSegmentError
from apcore.ids import directory_to_canonical_id, is_canonical_id


@pytest.mark.req("R-2.1-01", "R-12.4-09")
@pytest.mark.parametrize(
    ("path", "root", "module_id"),
    [
        ("extensions/executor/validator/db_params.py", "extensions", "executor.validator.db_params"),
        ("extensions/api/handler/task_submit.py", "extensions", "api.handler.task_submit"),
        ("extensions/orchestrator/engine/task_flow.py", "extensions", "orchestrator.engine.task_flow"),
        ("extensions/executor/validator/db_params_v2.py", "extensions", "executor.validator.db_params_v2"),
        ("extensions/a.py", "extensions", "a"),
        ("extensions/a/b.rs", "extensions", "a.b"),
        ("extensions/a/b.tsx", "extensions", "a.b"),
        ("extensions/a1/b2_3.py", "extensions", "a1.b2_3"),
        ("extensions/a/b/c/d/e/f/g/h.py", "extensions", "a.b.c.d.e.f.g.h"),
        ("plugins/a/b.py", "plugins", "a.b"),
        ("src/extensions/a/b.py", "src/extensions", "a.b"),
        ("src/extensions/a/b.py", "src/extensions/", "a.b"),
        ("extensions/extensions/a.py", "extensions", "extensions.a"),
    ],
)
def test_path_becomes_an_id(path, root, module_id):
    assert directory_to_canonical_id(path, root) == module_id


@pytest.mark.req("R-2.1-02")
def test_root_is_extensions_by_default():
    assert directory_to_canonical_id("extensions/a/b.py") == "a.b"


@pytest.mark.req("R-2.1-03", "R-2.1-04")
@pytest.mark.parametrize(
    "path",
    [
        "other/a.py",
        "extensionsx/a.py",
        "a.py",
        "",
        "extensions/a",
        "extensions/a.d/b",
        "extensions/a//b.py",
        "extensions//a.py",
        "extensions/.py",
        "/extensions/a.py",
    ],
)
def test_paths_that_are_none_are_refused(path):
    with pytest.raises(InvalidPathError) as caught:
        directory_to_canonical_id(path)
    assert caught.value.code == "INVALID_PATH"


@pytest.mark.req("R-2.1-05")
@pytest.mark.parametrize("segment", ["My-Mod", "1abc", "Ab", "a.b", "_a", "a__b", "a b", "é", "a\n", ".."])
def test_segments_that_are_none_are_refused(segment):
    for path in (f"extensions/{segment}.py", f"extensions/{segment}/a.py"):
        with pytest.raises(InvalidSegmentError) as caught:
            directory_to_canonical_id(path)
        assert caught.value.code == "INVALID_SEGMENT"


@pytest.mark.req("R-2.1-06")
def test_192_characters_are_the_limit():
    assert len(directory_to_canonical_id(f"extensions/{'a' * 192}.py")) == 192
    with pytest.raises(IdTooLongError) as caught:
        directory_to_canonical_id(f"extensions/{'a' * 193}.py")
    assert caught.value.code == "ID_TOO_LONG"


@given(st.text(st.sampled_from("ab_1A./")))
def test_whatever_comes_out_is_canonical(path):
    try:
        module_id = directory_to_canonical_id(f"extensions/{path}.py")
    except (InvalidPathError, InvalidSegmentError):
        return
    assert is_canonical_id(module_id)
    assert module_id == path.replace("/", ".")
