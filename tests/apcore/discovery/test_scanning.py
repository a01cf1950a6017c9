import pytest

from apcore import scan_extensions
from apcore.discovery import ScanSettings
from apcore.errors import ConfigError, InvalidInputError, InvalidModuleIdError


def ids(root, config=None):
    return [module_id for _, module_id in scan_extensions(root, config)]


def warnings(caplog):
    return [each.message for each in caplog.records if each.levelname == "WARNING"]


@pytest.mark.req("R-3.6-01", "R-8.2-42")
def test_a_root_that_is_no_directory_is_refused(tmp_path, write):
    for root in (tmp_path / "missing", write("file")):
        with pytest.raises(ConfigError) as caught:
            scan_extensions(root)
        assert caught.value.code == "CONFIG_INVALID"
        assert caught.value.details == {"reason": "EXTENSION_ROOT_NOT_FOUND", "extensions_root": str(root)}


@pytest.mark.req("R-3.6-02", "R-3.6-05", "R-3.1-03")
def test_the_files_and_their_ids_in_order(extensions, write, caplog):
    for name in ("executor/validator/db_params.py", "api/handler/task_submit.py", "common.py"):
        write(f"extensions/{name}")
    for name in ("README.md", "executor/validator/db_params_meta.yaml", "no_extension"):
        write(f"extensions/{name}")

    assert scan_extensions(extensions) == [
        (f"{extensions}/api/handler/task_submit.py", "api.handler.task_submit"),
        (f"{extensions}/common.py", "common"),
        (f"{extensions}/executor/validator/db_params.py", "executor.validator.db_params"),
    ]
    assert scan_extensions(f"{extensions}/") == scan_extensions(str(extensions))
    assert caplog.records == []


@pytest.mark.req("R-2.4-01")
def test_a_version_in_the_name_is_part_of_the_id(extensions, write):
    write("extensions/executor/db_params.py")
    write("extensions/executor/db_params_v2.py")

    assert ids(extensions) == ["executor.db_params", "executor.db_params_v2"]


@pytest.mark.req("R-3.5-01", "R-3.5-02", "R-3.5-03", "R-3.6-03")
def test_what_is_hidden_internal_or_a_cache_is_never_entered(extensions, write, caplog):
    write("extensions/kept.py")
    for name in (
        ".x.py",
        ".hidden/x.py",
        "_util.py",
        "__init__.py",
        "_internal/Bad-Name.py",
        "__pycache__/x.py",
        "node_modules/x.py",
        "x.pyc",
    ):
        write(f"extensions/{name}")

    assert ids(extensions) == ["kept"]
    assert caplog.records == []


@pytest.mark.req("R-3.5-04")
def test_further_patterns_come_from_the_configuration(extensions, write):
    for name in ("a.py", "b_test.py", "drafts/c.py"):
        write(f"extensions/{name}")
    patterns = ["*_test.*", "drafts"]

    assert ids(extensions, {"ignore_patterns": patterns}) == ["a"]
    assert ids(extensions, {"extensions": {"ignore_patterns": patterns}}) == ["a"]
    assert ids(extensions, ScanSettings(ignore_patterns=tuple(patterns))) == ["a"]


@pytest.mark.req("R-3.1-02", "R-3.6-04")
def test_what_lies_too_deep_is_skipped_with_a_warning(extensions, write, caplog):
    levels = "/".join(f"l{level}" for level in range(1, 9))
    write(f"extensions/{levels}/here.py")
    write(f"extensions/{levels}/l9/there.py")

    assert ids(extensions) == [f"{levels.replace('/', '.')}.here"]
    assert len(warnings(caplog)) == 1
    assert "l9" in warnings(caplog)[0]

    assert len(ids(extensions, {"max_depth": 9})) == 2
    assert ids(extensions, {"max_depth": 1}) == []


@pytest.mark.req("R-3.1-02")
@pytest.mark.parametrize("depth", [0, 17, -1])
def test_a_depth_outside_of_the_limits_is_refused(extensions, depth):
    with pytest.raises(ConfigError, match="16"):
        scan_extensions(extensions, {"max_depth": depth})


@pytest.mark.req("R-3.6-06")
def test_a_name_that_cannot_be_an_id_is_left_out_with_a_warning(extensions, write, caplog):
    for name in ("Bad-Name.py", "good.py", "1st/x.py", "a__b.py", "a.b.py"):
        write(f"extensions/{name}")

    assert ids(extensions) == ["good"]
    assert [
        name for name in ("Bad-Name", "1st", "a__b", "a.b") if not any(name in each for each in warnings(caplog))
    ] == []


@pytest.mark.req("R-3.6-07", "R-2.6-01")
def test_two_files_of_one_id_are_an_error_naming_both(extensions, write):
    files = [str(write(f"extensions/a/b.{suffix}")) for suffix in ("py", "pyw")]

    with pytest.raises(InvalidInputError) as caught:
        scan_extensions(extensions, ScanSettings(supported_extensions=(".py", ".pyw")))
    assert caught.value.details == {"type": "duplicate_id", "module_id": "a.b", "files": files}


@pytest.mark.req("R-3.6-07", "R-2.6-06")
def test_a_reserved_word_is_an_error_naming_the_file(extensions, write):
    file = write("extensions/shop/import.py")

    with pytest.raises(InvalidModuleIdError) as caught:
        scan_extensions(extensions)
    assert caught.value.details["type"] == "reserved_word"
    assert caught.value.details["files"] == [str(file)]


class TestLinks:
    FOLLOW = {"follow_symlinks": True}

    @pytest.mark.req("R-3.4-01", "R-3.4-02")
    def test_they_are_followed_only_when_that_is_switched_on(self, extensions, write):
        write("extensions/_shared/x.py")
        file = write("extensions/_one.py")
        (extensions / "linked").symlink_to(extensions / "_shared")
        (extensions / "one.py").symlink_to(file)

        assert ids(extensions) == []
        assert ids(extensions, self.FOLLOW) == ["linked.x", "one"]

    @pytest.mark.req("R-3.4-03")
    def test_a_circle_ends_with_a_warning(self, extensions, write, caplog):
        write("extensions/a/x.py")
        (extensions / "a" / "loop").symlink_to(extensions / "a")
        (extensions / "a" / "up").symlink_to(extensions)
        (extensions / "itself").symlink_to(extensions / "itself")

        assert ids(extensions, self.FOLLOW) == ["a.x"]
        assert len(warnings(caplog)) == 3

    @pytest.mark.req("R-3.4-03")
    def test_two_directories_that_link_to_each_other_end_too(self, extensions, write):
        write("extensions/a/x.py")
        write("extensions/b/y.py")
        (extensions / "a" / "b").symlink_to(extensions / "b")
        (extensions / "b" / "a").symlink_to(extensions / "a")

        assert ids(extensions, self.FOLLOW) == ["a.b.y", "a.x", "b.a.x", "b.y"]

    @pytest.mark.req("R-3.4-04")
    def test_what_leads_out_of_the_root_is_skipped(self, extensions, write, caplog):
        secret = write("outside/secret.py")
        (extensions / "escape").symlink_to(secret.parent)
        (extensions / "file.py").symlink_to(secret)
        (extensions / "gone.py").symlink_to("nowhere.py")
        # a directory beside the root, whose name starts with that of the root, is outside as well
        (extensions / "sibling.py").symlink_to(write("extensions_2/x.py"))

        assert ids(extensions, self.FOLLOW) == []
        assert len(warnings(caplog)) == 4

    def test_the_root_itself_may_be_a_link(self, extensions, write, tmp_path):
        write("extensions/a.py")
        (tmp_path / "link").symlink_to(extensions)

        assert ids(tmp_path / "link", self.FOLLOW) == ["a"]
        assert ids(tmp_path / "link") == ["a"]
