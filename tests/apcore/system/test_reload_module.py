import textwrap

import pytest

from apcore import BindingLoader, build_app
from apcore.errors import (
    InvalidInputError,
    ModuleNotFoundError,
    ReloadFailedError,
    SchemaValidationError,
)
from apcore.events import EventEmitter
from apcore.system import MemoryOverridesStore, register_sys_modules

RELOAD = "system.control.reload_module"
SOURCE = """
class Module:
    description = "Says its version"
    version = "{version}.0.0"
    dependencies = {dependencies}
    input_schema = output_schema = {{"type": "object"}}

    def execute(self, inputs, context):
        return {{"version": self.version}}
"""


@pytest.fixture
def write(tmp_path):
    def write(name, version, dependencies=()):
        file = tmp_path / "extensions" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(SOURCE).format(version=version, dependencies=list(dependencies)))
        return file

    return write


@pytest.fixture
def started(tmp_path, write):
    """An app with three modules: c depends on b, which depends on a."""

    def started(**options):
        write("shop/a.py", 1)
        write("shop/b.py", 1, ["shop.a"])
        write("shop/c.py", 1, ["shop.b"])
        write("other.py", 1)
        events = EventEmitter()
        app = build_app(events=events)
        app.registry.discover(str(tmp_path / "extensions"))
        register_sys_modules(app, {"enabled": True}, **options)
        heard = []
        events.subscribe(heard.append, types=["apcore.module.*"])
        return app, heard

    return started


@pytest.mark.req("R-6.7-08", "R-6.7-12", "R-9.16.2-04")
def test_one_module_is_reloaded_and_told(started, write):
    app, heard = started()
    write("shop/a.py", 2)

    output = app.executor.call(RELOAD, {"module_id": "shop.a"})

    told = {"module_id": "shop.a", "previous_version": "1.0.0", "new_version": "2.0.0"}
    assert output.pop("reload_duration_ms") >= 0
    assert output == {"success": True, "reloaded_modules": [told], **told}
    assert app.executor.call("shop.a", {}) == {"version": "2.0.0"}
    assert [(each.type, dict(each.data)) for each in heard] == [("apcore.module.reloaded", told)]


@pytest.mark.req("R-6.7-08")
@pytest.mark.parametrize("path_filter", ["shop.*", "*/shop/*.py"])
def test_a_glob_reloads_what_fits_those_first_that_others_need(started, write, path_filter):
    app, heard = started()
    for name in ("a", "b", "c"):
        write(f"shop/{name}.py", 2, [] if name == "a" else [f"shop.{chr(ord(name) - 1)}"])

    output = app.executor.call(RELOAD, {"path_filter": path_filter})

    assert [each["module_id"] for each in output["reloaded_modules"]] == ["shop.a", "shop.b", "shop.c"]
    assert "module_id" not in output
    assert [each.module_id for each in heard] == ["shop.a", "shop.b", "shop.c"]
    assert app.executor.call("other", {}) == {"version": "1.0.0"}


@pytest.mark.req("R-6.7-09")
def test_dependents_are_reloaded_on_request_only(started):
    app, heard = started()
    app.executor.call(RELOAD, {"module_id": "shop.b"})
    assert [each.module_id for each in heard] == ["shop.b"]
    heard.clear()

    output = app.executor.call(RELOAD, {"module_id": "shop.a", "cascade": True})
    assert [each["module_id"] for each in output["reloaded_modules"]] == ["shop.a", "shop.b", "shop.c"]
    assert output["module_id"] == "shop.a"


def test_a_glob_takes_bound_functions_along(started, tmp_path):
    app, _ = started()
    file = tmp_path / "shop.binding.yaml"
    file.write_text(
        "bindings: [{module_id: shop.dedent, target_id: 'textwrap:dedent', input_schema: {}, output_schema: {}}]"
    )
    BindingLoader().load_bindings(file, app.registry)

    output = app.executor.call(RELOAD, {"path_filter": "shop.*"})

    assert "shop.dedent" in [each["module_id"] for each in output["reloaded_modules"]]


@pytest.mark.req("R-6.7-14")
@pytest.mark.parametrize("inputs", [{}, {"module_id": "shop.a", "path_filter": "shop.*"}, {"reason": "x"}])
def test_exactly_one_of_both_says_what_is_meant(started, inputs):
    app, heard = started()
    with pytest.raises(SchemaValidationError):
        app.executor.call(RELOAD, inputs)
    assert heard == []
    assert app.executor.call(RELOAD, {"module_id": "shop.a"})["success"]
    assert app.executor.call(RELOAD, {"path_filter": "shop.*"})["success"]


def test_the_first_failure_ends_it_and_says_what_was_done(started, write):
    app, heard = started()
    write("shop/a.py", 2)
    write("shop/b.py", 2, ["shop.a"]).write_text("1 / 0")

    with pytest.raises(ReloadFailedError) as caught:
        app.executor.call(RELOAD, {"path_filter": "shop.*"})

    assert caught.value.details["reloaded"] == ["shop.a"]
    assert [each.module_id for each in heard] == ["shop.a"]
    assert app.executor.call("shop.b", {}) == {"version": "1.0.0"}


def test_what_cannot_be_reloaded(started):
    app, _heard = started()
    with pytest.raises(ModuleNotFoundError):
        app.executor.call(RELOAD, {"module_id": "no.such"})
    with pytest.raises(ModuleNotFoundError, match="fits"):
        app.executor.call(RELOAD, {"path_filter": "no.*"})
    with pytest.raises(ReloadFailedError):
        app.executor.call(RELOAD, {"module_id": "system.health.summary"})


def test_a_module_is_not_reloaded_by_its_own_call(started):
    app, _heard = started()

    class Caller:
        description = "Reloads itself"
        input_schema = output_schema = {"type": "object"}

        def execute(self, inputs, context):
            return app.executor.call(RELOAD, {"module_id": "a.caller"}, context)

    app.registry.register("a.caller", Caller)
    with pytest.raises(InvalidInputError, match="chain"):
        app.executor.call("a.caller", {})


@pytest.mark.req("R-6.7-17", "R-6.7-16")
def test_a_toggle_falls_back_at_a_reload_unless_it_is_stored(started):
    app, _heard = started()
    app.executor.call("system.control.toggle_feature", {"module_id": "shop.a", "enabled": False})
    app.executor.call(RELOAD, {"module_id": "shop.a"})
    assert app.toggles.is_enabled("shop.a")


@pytest.mark.req("R-6.7-16")
def test_a_stored_toggle_stays(started):
    app, _heard = started(overrides=MemoryOverridesStore())
    app.executor.call("system.control.toggle_feature", {"module_id": "shop.a", "enabled": False})
    app.executor.call(RELOAD, {"module_id": "shop.a"})
    assert not app.toggles.is_enabled("shop.a")


def test_the_preview_names_what_would_be_reloaded(started):
    app, heard = started()
    result = app.executor.validate(RELOAD, {"path_filter": "shop.?"})
    assert [each.target for each in result.predicted_changes] == ["module:shop.a", "module:shop.b", "module:shop.c"]
    assert result.predicted_changes[0].before["version"] == "1.0.0"
    assert heard == []
