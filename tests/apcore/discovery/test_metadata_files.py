import datetime as dt

import pytest

from apcore.discovery import load_metadata
from apcore.discovery.metadata_files import metadata_file_of
from apcore.errors import ModuleLoadError
from apcore.modules import NO_COMPANION, Companion, Dependency, Deprecation, ResourceLimits

COMPLETE = """
    description: "Database parameter validator"
    documentation: "Longer"
    entry_point: "db_params:DbParamsValidator"
    allowed_callers:
      - "orchestrator.engine.*"
      - "api.handler.task_submit"
    dependencies:
      - module_id: "common.util.sql_parser"
        version: ">=1.0.0"
        optional: false
      - common.util.other
    tags: [database, security]
    version: "1.2.0"
    annotations:
      idempotent: true
    examples:
      - title: "Validate"
        inputs: {sql: "SELECT 1"}
    metadata:
      owner: "database-team"
    deprecated: true
    deprecated_message: "Too slow"
    replacement: "executor.validator.db_params_v2"
    sunset_date: 2026-06-01
    resources:
      timeout: 5000
      memory_limit: null
"""


@pytest.mark.req("R-3.1-03")
def test_it_sits_beside_the_module_file():
    assert str(metadata_file_of("a/db_params.py")) == "a/db_params_meta.yaml"


@pytest.mark.req("R-5.2-07", "R-5.2-10")
def test_every_key_is_read(write):
    write("db_params_meta.yaml", COMPLETE)

    assert load_metadata(write("db_params.py")) == Companion(
        description="Database parameter validator",
        documentation="Longer",
        entry_point="db_params:DbParamsValidator",
        allowed_callers=("orchestrator.engine.*", "api.handler.task_submit"),
        dependencies=(Dependency("common.util.sql_parser", ">=1.0.0"), Dependency("common.util.other")),
        tags=("database", "security"),
        version="1.2.0",
        annotations={"idempotent": True},
        examples=({"title": "Validate", "inputs": {"sql": "SELECT 1"}},),
        metadata={"owner": "database-team"},
        deprecation=Deprecation("Too slow", "executor.validator.db_params_v2", dt.date(2026, 6, 1)),
        resources=ResourceLimits(timeout_ms=5000),
    )


@pytest.mark.req("R-5.2-08", "R-5.2-10", "R-5.1-01")
def test_nothing_is_required(write):
    file = write("a.py")
    assert load_metadata(file) is NO_COMPANION

    write("a_meta.yaml", "deprecated: false\ndeprecated_message: null\nreplacement: null\nsunset_date: null\n")
    assert load_metadata(file) == Companion()


def test_an_unknown_key_is_pointed_out(write, caplog):
    write("a_meta.yaml", "tag: [x]\nx-own: 1\nmodule_id: a\n")

    load_metadata(write("a.py"))
    assert [each.message.partition(": ")[2] for each in caplog.records] == ["unknown keys are ignored: tag"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("tags: x", "/tags"),
        ("sunset_date: soon", "/sunset_date"),
        ("entry_point: DbParams", "/entry_point"),
        ("allowed_callers: [1]", "/allowed_callers/0"),
        ("allowed_callers:", "/allowed_callers"),
        ("resources: {timeout: -1}", "timeout_ms"),
        ("resources: {time: 1}", "time"),
        ("dependencies: [{version: '1'}]", "module_id"),
        ("a: [", "cannot be read"),
        ("[]", "cannot be read"),
        ("tags: [a]\ntags: [b]", "tags"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_place(write, text, place):
    file = write("a_meta.yaml", text)

    with pytest.raises(ModuleLoadError, match=place) as caught:
        load_metadata(write("a.py"))
    assert str(file) in caught.value.message
    assert caught.value.details["file"] == str(file)
