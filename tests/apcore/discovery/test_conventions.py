import pytest

from apcore import Executor, Registry, resolve_display, scan_conventions
from apcore.errors import (
    ConfigError,
    InvalidInputError,
    InvalidModuleIdError,
    ModuleLoadError,
    SchemaValidationError,
)

DEPLOY = '''
def deploy(env: str, tag: str = "latest", replicas: int = 3) -> dict:
    """Deploy application to target_id environment.

    In all its glory.
    """
    return {"deployed": f"{env}:{tag} x{replicas}"}
'''


def warnings(caplog):
    return [each.message for each in caplog.records if each.levelname == "WARNING"]


@pytest.fixture
def commands(tmp_path):
    directory = tmp_path / "commands"
    directory.mkdir()
    return directory


def registered(directory, **options):
    registry = Registry()
    registry.register_found(scan_conventions(directory, **options))
    return registry


@pytest.mark.req("R-5.14.1-01", "R-5.14.5-01", "R-5.14.3-01", "R-5.14.4-05")
def test_plain_functions_become_modules(write, monkeypatch, tmp_path):
    write("commands/deploy.py", DEPLOY)
    write("commands/monitoring/health.py", "def check() -> dict:\n    return {}\ndef ping() -> dict:\n    return {}\n")
    monkeypatch.chdir(tmp_path)

    found = scan_conventions()

    assert [each.module_id for each in found] == ["deploy.deploy", "monitoring.health.check", "monitoring.health.ping"]
    registry = registered("commands")
    assert registry.list() == [each.module_id for each in found]
    assert registry.get_definition("deploy.deploy").description == "Deploy application to target_id environment."
    assert registry.get_definition("monitoring.health.ping").description == "(no description)"
    assert Executor(registry).call("deploy.deploy", {"env": "prod"}) == {"deployed": "prod:latest x3"}


@pytest.mark.req("R-5.14.6-01")
def test_the_schema_of_the_sample(commands, write):
    write("commands/deploy.py", DEPLOY)

    schema = registered(commands).get_definition("deploy.deploy").input_schema

    assert schema == {
        "type": "object",
        "properties": {
            "env": {"type": "string"},
            "tag": {"type": "string", "default": "latest"},
            "replicas": {"type": "integer", "default": 3},
        },
        "required": ["env"],
    }


def test_inputs_that_a_function_does_not_declare_never_reach_it(commands, write):
    write("commands/deploy.py", "def deploy(env: str) -> dict:\n    return {'env': env}\n")
    strict, lenient = Registry(), Registry(strict_inputs=False)
    for registry in (strict, lenient):
        registry.register_found(scan_conventions(commands))

    with pytest.raises(SchemaValidationError, match="/tag"):
        Executor(strict).call("deploy.deploy", {"env": "test", "tag": "x"})
    assert Executor(lenient).call("deploy.deploy", {"env": "test", "tag": "x"}) == {"env": "test"}


@pytest.mark.req("R-5.14.4-01", "R-5.14.4-02", "R-5.14.4-03")
def test_only_public_top_level_functions_of_the_file_itself_count(commands, write):
    write("commands/_helpers.py", "def helper(a: int) -> dict:\n    return {}\n")
    write(
        "commands/a.py",
        """
        from os.path import join
        from ._helpers import helper


        def _private(a: int) -> dict:
            return {}


        class Service:
            def method(self, a: int) -> dict:
                return {}


        def run(a: int) -> dict:
            def nested(b: int) -> dict:
                return {}

            return nested(a)


        same = run
        CONSTANT = print
        """,
    )

    assert [each.module_id for each in scan_conventions(commands)] == ["a.run", "a.same"]


@pytest.mark.req("R-5.14.4-04")
def test_a_function_without_annotations_is_skipped_with_a_warning(commands, write, caplog):
    write("commands/a.py", "def bad(a, b: int) -> dict:\n    return {}\n\ndef good(a: int) -> dict:\n    return {}\n")

    assert [each.module_id for each in scan_conventions(commands)] == ["a.good"]
    assert ["'bad'" in each for each in warnings(caplog)] == [True]


@pytest.mark.req("R-5.14.4-06")
@pytest.mark.parametrize(
    ("body", "result"),
    [("return {'a': a}", {"a": 1}), ("return a", {"result": 1}), ("pass", {"result": None})],
)
def test_a_missing_return_annotation_means_an_open_object(commands, write, body, result):
    write("commands/a.py", f"def run(a: int):\n    {body}\n")

    registry = registered(commands)

    assert registry.get_definition("a.run").output_schema == {"type": "object"}
    assert Executor(registry).call("a.run", {"a": 1}) == result


@pytest.mark.req("R-5.14.4-06")
def test_a_return_annotation_gives_the_output_schema(commands, write):
    write("commands/a.py", "def run() -> dict[str, int]:\n    return {'a': 1}\n")

    assert registered(commands).get_definition("a.run").output_schema == {
        "type": "object",
        "additionalProperties": {"type": "integer"},
    }


@pytest.mark.req("R-5.14.6-02")
def test_self_and_ctx_are_no_inputs(commands, write):
    write(
        "commands/a.py",
        "def f(ctx, a: int):\n    return {'trace': ctx.trace_id, 'a': a}\n\n"
        "def g(self, a: int) -> dict:\n    return {'self': self, 'a': a}\n",
    )
    registry = registered(commands)

    for name in ("a.f", "a.g"):
        assert list(registry.get_definition(name).input_schema["properties"]) == ["a"]
    assert len(Executor(registry).call("a.f", {"a": 1})["trace"]) == 32
    assert Executor(registry).call("a.g", {"a": 1}) == {"self": None, "a": 1}


@pytest.mark.req("R-5.14.5-02", "R-5.14.5-03", "R-5.14.7-01")
def test_the_constants_of_a_file(commands, write):
    write("commands/deploy.py", 'MODULE_PREFIX = "ops"\nCLI_GROUP = "op"\nTAGS = ["devops", "deploy"]\n' + DEPLOY)

    definition = registered(commands).get_definition("ops.deploy")

    assert definition.tags == ("devops", "deploy")
    display = definition.metadata["display"]
    assert display["cli"] == {
        "alias": "ops.deploy",
        "description": "Deploy application to target_id environment.",
        "guidance": None,
        "group": "op",
    }
    assert "group" not in display["mcp"]


@pytest.mark.req("R-5.14.5-03")
def test_the_group_is_in_the_metadata_of_what_was_scanned(commands, write):
    write("commands/deploy.py", 'CLI_GROUP = "ops"\n' + DEPLOY)

    assert scan_conventions(commands)[0].module.metadata == {"display": {"cli": {"group": "ops"}}}


@pytest.mark.req("R-5.14.7-02")
def test_functions_have_no_constants(commands, write):
    write("commands/deploy.py", DEPLOY + 'deploy.TAGS = ["x"]\ndeploy.MODULE_PREFIX = "y"\n')

    definition = registered(commands).get_definition("deploy.deploy")
    assert (definition.tags, definition.metadata) == ((), {})


@pytest.mark.parametrize("constant", ["TAGS = 'x'", "MODULE_PREFIX = 5", "CLI_GROUP = ['x']"])
def test_a_constant_of_the_wrong_type_is_an_error(commands, write, constant):
    write("commands/a.py", constant)

    with pytest.raises(ModuleLoadError, match=r"a\.py.*wrong type"):
        scan_conventions(commands)


def test_what_gives_no_id_is_an_error(commands, write):
    write("commands/a.py", "def Run(a: int) -> dict:\n    return {}\n")
    with pytest.raises(InvalidModuleIdError):
        scan_conventions(commands)


def test_two_functions_of_one_id_are_an_error(commands, write):
    for name in ("a", "b"):
        write(f"commands/{name}.py", 'MODULE_PREFIX = "ops"\ndef run(a: int) -> dict:\n    return {}\n')

    with pytest.raises(InvalidInputError) as caught:
        scan_conventions(commands)
    assert caught.value.details["type"] == "duplicate_id"


def test_a_missing_directory_and_a_broken_file_are_errors(commands, write, tmp_path):
    with pytest.raises(ConfigError):
        scan_conventions(tmp_path / "none")
    write("commands/a.py", "1 / 0")
    with pytest.raises(ModuleLoadError, match=r"a\.py"):
        scan_conventions(commands)


@pytest.mark.req("R-5.13.11-01", "R-5.13.11-02", "R-5.13.7-01", "R-5.13.8-01")
def test_simplified_ids_are_suggested_aliases_and_deprecated(commands, write, caplog):
    write("commands/monitoring/health.py", "def check() -> dict:\n    return {}\n")

    [found] = scan_conventions(commands, simplify_ids=True)

    assert found.module_id == "monitoring.health.check" == scan_conventions(commands)[0].module_id
    assert found.module.metadata["suggested_alias"] == "check"
    assert ["deprecated" in each for each in warnings(caplog)] == [True]
    registry = registered(commands, simplify_ids=True)
    assert registry.get_definition("monitoring.health.check").metadata["display"]["mcp"]["alias"] == "check"


@pytest.mark.req("R-5.14.9-01")
def test_what_was_scanned_can_be_presented_before_it_is_registered(commands, write):
    write("commands/deploy.py", "TAGS = ['ops']\n" + DEPLOY)

    [plain] = resolve_display(scan_conventions(commands))
    [shown] = resolve_display(scan_conventions(commands), {"deploy.deploy": {"display": {"alias": "deploy"}}})

    assert (plain.display.alias, shown.display.alias) == ("deploy.deploy", "deploy")
    assert plain.display.description == shown.display.description == "Deploy application to target_id environment."
    assert (shown.display.tags, shown.version) == (["ops"], "1.0.0")


def test_all_shapes_of_functions_are_called_as_they_are_written(commands, write):
    write(
        "commands/a.py",
        """
        from __future__ import annotations

        import functools
        from dataclasses import dataclass
        from typing import Optional


        def _logged(function):
            @functools.wraps(function)
            def call(*args, **kwargs):
                return {**function(*args, **kwargs), "logged": True}

            return call


        @_logged
        def wrapped(n: int) -> dict:
            return {"n": n}


        async def later(n: int) -> dict:
            return {"n": n}


        def optional(n: Optional[int] = None, *, flag: bool = False) -> str:
            return f"{n} {flag}"


        def model(thing: Thing) -> dict:
            return {"value": thing.value}


        @dataclass
        class Thing:
            value: int
        """,
    )
    executor = Executor(registered(commands))

    assert executor.call("a.wrapped", {"n": 1}) == {"n": 1, "logged": True}
    assert executor.call("a.later", {"n": 1}) == {"n": 1}
    assert executor.call("a.optional", {"flag": True}) == {"result": "None True"}
    assert executor.call("a.model", {"thing": {"value": 3}}) == {"value": 3}
