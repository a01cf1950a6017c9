import pytest

from apcore.errors import (
    ACLDeniedError,
    ErrorFormatterDuplicateError,
    ErrorFormatterRegistry,
    InvalidInputError,
    format_error,
)


class Tiny:
    def format(self, error, context):
        return {"ok": 1, "code": error.code, "context": context}


class Broken:
    def format(self, error, context):
        raise RuntimeError("no")


@pytest.fixture(autouse=True)
def clean_registry(monkeypatch):
    """The table is the whole process's: what an adapter has put there stays there."""
    monkeypatch.setattr(ErrorFormatterRegistry, "_formatters", {"earlier": Tiny()})
    ErrorFormatterRegistry.reset()
    assert ErrorFormatterRegistry.get("earlier") is None


@pytest.mark.req("R-8.8.2-01", "R-8.8.1-01", "R-8.8.2-03")
def test_registered_formatter_is_found():
    formatter = Tiny()
    ErrorFormatterRegistry.register("tiny", formatter)

    assert ErrorFormatterRegistry.get("tiny") is formatter


@pytest.mark.req("R-8.8.2-02")
def test_second_formatter_of_one_name_is_refused():
    ErrorFormatterRegistry.register("tiny", first := Tiny())

    with pytest.raises(ErrorFormatterDuplicateError) as caught:
        ErrorFormatterRegistry.register("tiny", Tiny())

    assert caught.value.code == "ERROR_FORMATTER_DUPLICATE"
    assert ErrorFormatterRegistry.get("tiny") is first


@pytest.mark.req("R-8.8.3-01")
def test_without_formatter_the_standard_format_is_used():
    error = ACLDeniedError("No")

    assert format_error(error, "unknown", None) == error.to_dict()


@pytest.mark.req("R-8.8.3-02")
def test_formatter_speaks_for_its_adapter():
    ErrorFormatterRegistry.register("tiny", Tiny())

    assert format_error(ACLDeniedError("No"), "tiny", "ctx") == {"ok": 1, "code": "ACL_DENIED", "context": "ctx"}


@pytest.mark.req("R-8.8.1-02")
def test_failing_formatter_still_gives_a_result(caplog):
    ErrorFormatterRegistry.register("broken", Broken())
    error = ACLDeniedError("No")

    assert format_error(error, "broken", None) == error.to_dict()
    assert "adapter 'broken' failed" in caplog.text


@pytest.mark.parametrize("answer", [None, "text", ["a"]])
def test_a_formatter_that_returns_no_dict_gives_the_standard_form(answer, caplog):
    class Odd:
        def format(self, error, context):
            return answer

    ErrorFormatterRegistry.register("odd", Odd())
    error = ACLDeniedError("No")

    assert format_error(error, "odd", None) == error.to_dict()
    assert "adapter 'odd' returned" in caplog.text


def test_an_exception_of_another_kind_has_a_form_without_its_text():
    assert format_error(ValueError("hunter2"), "none")["message"] == "Unexpected error (ValueError)"
    assert format_error(ACLDeniedError("No"), "")["code"] == "ACL_DENIED"


@pytest.mark.parametrize(
    ("name", "formatter"),
    [
        ("", Tiny()),
        (" ", Tiny()),
        (None, Tiny()),
        (5, Tiny()),
        ("x", None),
        ("x", object()),
        ("x", Tiny),
    ],
)
def test_what_is_no_adapter_or_no_formatter_is_refused(name, formatter):
    with pytest.raises(InvalidInputError, match="adapter"):
        ErrorFormatterRegistry.register(name, formatter)


@pytest.mark.req("R-8.8.4-01")
@pytest.mark.parametrize("adapter", ["mcp", "a2a", "cli"])
def test_no_formatter_is_built_in(adapter):
    assert ErrorFormatterRegistry.get(adapter) is None
