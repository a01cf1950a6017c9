import pytest

from apcore.schema import prefer_llm_descriptions, strip_extensions

SCHEMA = {
    "type": "object",
    "x-llm-description": "For models",
    "properties": {
        "sql": {"type": "string", "description": "SQL", "x-llm-description": "Only SELECT", "x-sensitive": True},
        "x-trace": {"type": "array", "items": {"x-examples": [1], "description": "A step"}},
    },
}


@pytest.mark.req("R-4.17-06")
def test_extensions_go_and_fields_stay():
    assert strip_extensions(SCHEMA) == {
        "type": "object",
        "properties": {
            "sql": {"type": "string", "description": "SQL"},
            "x-trace": {"type": "array", "items": {"description": "A step"}},
        },
    }


@pytest.mark.req("R-4.3-02", "R-4.3-03")
def test_the_description_for_models_comes_first():
    changed = prefer_llm_descriptions(SCHEMA)

    assert changed["description"] == "For models"
    assert changed["properties"]["sql"]["description"] == "Only SELECT"
    assert changed["properties"]["x-trace"]["items"]["description"] == "A step"
    assert SCHEMA["properties"]["sql"]["description"] == "SQL"
