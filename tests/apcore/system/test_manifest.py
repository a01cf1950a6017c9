import pytest

from apcore import Registry, build_app
from apcore.errors import ModuleNotFoundError
from apcore.system import register_sys_modules
from tests.apcore.system.conftest import Module


@pytest.mark.req("R-6.7-03", "R-4.8.3-02")
def test_the_manifest_of_a_module_has_all_that_is_known(app):
    class Needy(Module):
        dependencies = ({"module_id": "math.add", "version": ">=1.0.0"},)
        metadata = {"team": "numbers"}

    definition = app.registry.register("math.needy", Needy)
    output = app.executor.call("system.manifest.module", {"module_id": "math.needy"})

    assert output["input_schema"] == Module.input_schema
    assert output["output_schema"] == Module.output_schema
    assert output["annotations"] == definition.annotations.to_dict()
    assert output["tags"] == ["math"]
    assert output["dependencies"] == [{"module_id": "math.add", "version": ">=1.0.0", "optional": False}]
    assert output["source_path"] == __file__
    assert output["documentation"] == "Long text about adding."
    assert output["metadata"] == {"team": "numbers"}
    assert (output["version"], output["enabled"], output["is_system"]) == ("1.2.0", True, False)
    assert output["content_hash"] == definition.content_hash
    with pytest.raises(ModuleNotFoundError):
        app.executor.call("system.manifest.module", {"module_id": "no.such"})


def test_no_manifest_tells_a_secret_that_stands_in_the_code_of_a_module(app):
    class Careless(Module):
        description = "Reads postgres://ada:hunter2@db/shop"
        documentation = "Call https://example.org/?key=1 with Bearer hunter2hunter2, or with password=<yours>."
        tags = ("math", "https://ada:hunter2@example.org")
        metadata = {"team": "numbers", "api_key": "hunter2", "servers": [{"password": "hunter2"}]}

    app.registry.register("math.careless", Careless)
    output = app.executor.call("system.manifest.module", {"module_id": "math.careless"})
    assert "hunter2" not in str(output)
    assert "password=<yours>" in output["documentation"]
    assert (output["metadata"]["team"], output["metadata"]["api_key"]) == ("numbers", "***REDACTED***")
    assert output["input_schema"] == Module.input_schema
    assert "hunter2" not in str(app.executor.call("system.manifest.full", {}))


@pytest.mark.req("R-6.7-04", "R-4.8.3-02")
def test_the_full_manifest_has_every_module_that_can_be_discovered_without_its_documentation(app):
    class Hidden(Module):
        annotations = {"discoverable": False}

    app.registry.register("math.hidden", Hidden)
    output = app.executor.call("system.manifest.full", {})

    assert [each["module_id"] for each in output["modules"]] == app.registry.list()
    assert output["module_count"] == 10
    assert not any("documentation" in each for each in output["modules"])
    assert {each["module_id"] for each in output["modules"] if not each["is_system"]} == {"math.add"}


def test_it_can_be_narrowed(app):
    app.toggles.set("math.add", False)
    [entry] = app.executor.call("system.manifest.full", {"prefix": "math."})["modules"]
    assert (entry["module_id"], entry["enabled"]) == ("math.add", False)

    [entry] = app.executor.call("system.manifest.full", {"tags": ["math"]})["modules"]
    assert entry["module_id"] == "math.add"
    assert app.executor.call("system.manifest.full", {"tags": ["math", "other"]})["modules"] == []

    inputs = {"prefix": "math.", "include_schemas": False, "include_source_paths": False}
    [entry] = app.executor.call("system.manifest.full", inputs)["modules"]
    assert not entry.keys() & {"input_schema", "output_schema", "source_path"}


def test_the_source_of_a_discovered_module_is_its_file(tmp_path):
    file = tmp_path / "extensions" / "adder.py"
    file.parent.mkdir()
    file.write_text(
        "class Adder:\n    description = 'Adds'\n    input_schema = output_schema = {'type': 'object'}\n\n"
        "    def execute(self, inputs, context):\n        return {}\n"
    )
    app = build_app(registry=Registry())
    app.registry.discover(str(tmp_path / "extensions"))
    register_sys_modules(app, {"enabled": True})

    output = app.executor.call("system.manifest.module", {"module_id": "adder"})
    assert output["source_path"] == str(file)
