"""What the configuration says is what an app does (§9.1)."""

import logging

import pytest

from apcore import ACL, Config, Context, ExecutorSettings, build_app, module
from apcore.errors import (
    ACLDeniedError,
    ACLRuleError,
    CallDepthExceededError,
    ConfigError,
    ModuleTimeoutError,
    SchemaValidationError,
)

MODULE = '''
"""A module."""
class Hello:
    description = "Says hello"
    input_schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    output_schema = {"type": "object"}
    def execute(self, inputs, context):
        return {"said": inputs}
'''
ALLOW_ALL = 'version: "1.0.0"\nrules: [{callers: ["*"], targets: ["*"], effect: allow}]\n'
HEAD = 'version: "1.0.0"\nproject: {name: sample}\n'


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """An empty project as working directory."""
    monkeypatch.chdir(tmp_path)
    for name in ("APCORE_EXECUTOR_MAX_CALL_DEPTH", "APCORE_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def write(project):
    def written(name, text):
        file = project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    return written


@pytest.fixture(params=["legacy", "namespaces"])
def load(request, write):
    """Loads sections of apcore, in both modes."""

    def loaded(text=""):
        if request.param == "legacy":
            return Config.load(write("apcore.yaml", HEAD + text))
        inner = "".join(f"  {line}\n" for line in (HEAD + text).splitlines())
        return Config.load(write("apcore.yaml", f"apcore:\n{inner}"))

    return loaded


@module(id="math.add")
def add(a: int, b: int) -> dict:  # type: ignore[type-arg]  # as people write it
    """Add"""
    return {"sum": a + b}


@pytest.mark.req("R-3.1-01")
def test_a_project_with_the_standard_layout(load, write):
    write("extensions/greet/hello.py", MODULE)
    write("acl/global_acl.yaml", ALLOW_ALL)
    write("schemas/greet.hello.schema.yaml", "description: From the file\n")

    app = build_app(config=load())

    assert app.registry.list() == ["greet.hello"]
    assert app.executor.call("greet.hello", {"name": "A"}) == {"said": {"name": "A"}}


@pytest.mark.req("R-9.1-17")
def test_nothing_is_discovered_where_that_is_switched_off(load, write):
    write("extensions/greet/hello.py", MODULE)
    config = load("extensions: {auto_discover: false}\n")

    app = build_app(config=config)

    assert app.registry.list() == []
    assert app.registry.discover(config) == ["greet.hello"]


def test_who_brings_a_registry_has_filled_it(load, write, app_registry):
    write("extensions/greet/hello.py", MODULE)

    assert build_app(config=load(), registry=app_registry).registry.list() == ["math.add"]


@pytest.fixture
def app_registry():
    app = build_app()
    app.registry.register("math.add", add)
    return app.registry


def test_extensions_keys(load, write):
    write("code/a/one.py", MODULE)
    write("code/a/b/two.py", MODULE)
    write("code/left_out/three.py", MODULE)
    text = "extensions: {root: ./code, max_depth: 1, ignore_patterns: [left_out]}\n"

    assert build_app(config=load(text)).registry.list() == ["a.one"]


def test_bindings(load, write):
    write("extensions/.keep", "")
    write("own.py", "def greet(name: str) -> dict:\n    'Greet'\n    return {'hello': name}\n")
    binding = 'bindings:\n  - module_id: "own.greet"\n    target_id: "own:greet"\n    auto_schema: true\n'
    write("tied/a.tie.yaml", binding)
    config = load('bindings: {dir: ./tied, pattern: "*.tie.yaml"}\n')

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(".")
        assert build_app(config=config).registry.list() == ["own.greet"]


def test_schema_strategy_and_root(load, write):
    write("extensions/greet/hello.py", MODULE)
    write(
        "contracts/greet.hello.schema.yaml",
        "description: From the file\ninput_schema: {type: object, properties: {n: {type: integer}}}\n"
        "output_schema: {type: object}\n",
    )

    app = build_app(config=load("schema: {root: ./contracts, strategy: yaml_only}\n"))

    assert "n" in app.registry.get_definition("greet.hello").input_schema["properties"]


@pytest.mark.parametrize("strict", [True, False])
def test_strict_validation(load, write, strict):
    write("extensions/greet/hello.py", MODULE)
    write("acl/a.yaml", ALLOW_ALL)
    app = build_app(config=load(f"schema: {{validation: {{strict: {str(strict).lower()}}}}}\n"))

    if strict:
        with pytest.raises(SchemaValidationError):
            app.executor.call("greet.hello", {"more": 1})
    else:
        assert app.executor.call("greet.hello", {"more": 1}) == {"said": {"more": 1}}


@pytest.mark.req("R-5.2-09")
def test_an_app_from_a_configuration_denies_by_default(load):
    app = build_app(config=load())
    app.registry.register("math.add", add)

    with pytest.raises(ACLDeniedError):
        app.executor.call("math.add", {"a": 1, "b": 2})


def test_default_effect_and_what_a_file_says_about_it(load, write):
    app = build_app(config=load("acl: {default_effect: allow}\n"))
    app.registry.register("math.add", add)
    assert app.executor.call("math.add", {"a": 1, "b": 2}) == {"sum": 3}

    write("acl/a.yaml", 'version: "1.0.0"\nrules: []\n')
    assert build_app(config=load("acl: {default_effect: allow}\n")).acl.policy.default_effect == "allow"
    write("acl/a.yaml", 'version: "1.0.0"\ndefault_effect: deny\nrules: []\n')
    assert build_app(config=load("acl: {default_effect: allow}\n")).acl.policy.default_effect == "deny"


def test_an_access_list_that_was_named_must_be_there_and_readable(load, write):
    with pytest.raises(ConfigError, match=r"acl\.root"):
        build_app(config=load("acl: {root: ./rules}\n"))
    write("rules/a.yaml", "rules: 5\n")
    with pytest.raises(ACLRuleError):
        build_app(config=load("acl: {root: ./rules}\n"))


def test_a_given_access_list_wins(load):
    acl = ACL(default_effect="allow")

    assert build_app(config=load("acl: {root: ./missing}\n"), acl=acl).acl is acl


def test_the_log_of_decisions(load, caplog):
    app = build_app(config=load("acl: {audit: {log_level: error, include_denied: true}}\n"))
    silent = build_app(config=load("acl: {audit: {include_denied: false}}\n"))
    with caplog.at_level(logging.DEBUG, "apcore.acl.audit"):
        app.acl.check(None, "math.add")
        silent.acl.check(None, "math.add")

    assert [record.levelname for record in caplog.records if record.name == "apcore.acl.audit"] == ["ERROR"]


@pytest.mark.req("R-9.1-11")
def test_limits_of_the_executor(load, write):
    limits = "{default_timeout: 300, global_timeout: 400, max_call_depth: 1, max_module_repeat: 2, grace_period: 5}"
    app = build_app(config=load(f"acl: {{default_effect: allow}}\nexecutor: {limits}\n"))

    @module(id="calls.other")
    def other(context: Context) -> dict:  # type: ignore[type-arg]  # as people write it
        """Call"""
        return app.executor.call("math.add", {"a": 1, "b": 2}, context)

    @module(id="waits.long")
    def long() -> dict:  # type: ignore[type-arg]  # as people write it
        """Wait"""
        while True:
            sum(range(100))

    for each in (add, other, long):
        app.registry.register(each.id, each)
    assert app.executor.settings == ExecutorSettings(300, 400, 1, 2, 5)
    with pytest.raises(CallDepthExceededError):
        app.executor.call("calls.other", {})
    with pytest.raises(ModuleTimeoutError):
        app.executor.call("waits.long", {})


def test_id_map(load):
    text = "id_map: {auto_detect: false, overrides: {a.b: {java: {class: com.x.B}}}}\n"
    app = build_app(config=load(text))

    assert app.id_map.from_canonical("a.b", "java") == "com.x.B"
    assert app.id_map.language_of("a.py") is None


def test_sizes_of_histories(load):
    config = load()
    config.set("observability.error_history.max_entries_per_module", 2)
    config.set("sys_modules.usage.retention_hours", 5)

    app = build_app(config=config)

    assert (app.error_history.limits.per_module, app.usage.settings.retention_hours) == (2, 5)


def test_limits_alone_are_no_configuration():
    app = build_app(config={"max_call_depth": 5})

    assert app.acl is None
    assert app.executor.settings.max_call_depth == app.config.get("executor.max_call_depth") == 5
    assert build_app(config=ExecutorSettings(max_call_depth=6)).config.get("executor.max_call_depth") == 6
    with pytest.raises(ConfigError, match="max_call_dept"):
        build_app(config={"max_call_dept": 5})


def test_data_is_a_configuration():
    app = build_app(config={"executor": {"max_call_depth": 5}, "acl": {"default_effect": "allow"}})

    assert (app.executor.settings.max_call_depth, app.acl.policy.default_effect) == (5, "allow")


def test_unknown_keys_of_a_section_are_ignored(load):
    assert build_app(config=load("executor: {max_call_depth: 5, future: 1}\n")).executor.settings.max_call_depth == 5


def test_apps_without_a_configuration_read_the_environment(monkeypatch):
    monkeypatch.setenv("APCORE_EXECUTOR_MAX_CALL_DEPTH", "7")

    assert build_app().executor.settings.max_call_depth == 7
