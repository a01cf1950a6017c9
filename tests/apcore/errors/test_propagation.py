from dataclasses import dataclass, field

import pytest

from apcore.errors import (
    ACLDeniedError,
    ModuleError,
    ModuleExecuteError,
    ModuleTimeoutError,
    SchemaValidationError,
    propagate_error,
)


@dataclass
class Call:
    trace_id: str = "4bf92f3577b34da6a3ce929d0e0e4736"
    call_chain: list[str] = field(default_factory=lambda: ["a.outer", "a.inner"])


@pytest.mark.req("R-8.3-01")
def test_module_error_keeps_its_code_and_notes_every_module_on_its_way():
    error = ModuleError("Mine", code="INNER_BROKEN")

    for module_id in ("c.three", "b.two", "a.one"):
        assert propagate_error(error, module_id, Call()) is error

    assert error.code == "INNER_BROKEN"
    assert error.chain == ["c.three", "b.two", "a.one"]


@pytest.mark.req("R-8.3-04", "R-8.3-05")
def test_module_error_learns_where_it_came_from_once():
    error = ModuleError("Mine")

    propagate_error(error, "a.inner", Call())
    propagate_error(error, "a.outer", Call(trace_id="f" * 31 + "0", call_chain=["a.outer"]))

    assert (error.trace_id, error.module_id) == (Call().trace_id, "a.inner")
    assert error.call_chain == ["a.outer", "a.inner"]


@pytest.mark.req("R-8.3-03")
def test_an_error_that_names_its_module_still_learns_the_chain_it_was_called_through():
    error = propagate_error(ModuleError("Mine", module_id="a.inner"), "a.outer", Call())

    assert (error.module_id, error.call_chain) == ("a.inner", ["a.outer", "a.inner"])


@pytest.mark.req("R-8.3-02", "R-8.3-07")
@pytest.mark.parametrize(
    ("raised", "cls"),
    [
        (ValueError("x"), ModuleExecuteError),
        (KeyError("x"), ModuleExecuteError),
        (TimeoutError("x"), ModuleTimeoutError),
        (TimeoutError(), ModuleTimeoutError),
        (SchemaValidationError("x"), SchemaValidationError),
        (ACLDeniedError("x"), ACLDeniedError),
    ],
)
def test_foreign_exceptions_are_wrapped_by_kind(raised, cls):
    error = propagate_error(raised, "a.inner", Call())

    assert type(error) is cls
    assert error.code.startswith(("MODULE_", "SCHEMA_", "ACL_"))


@pytest.mark.req("R-8.3-03", "R-8.3-06")
def test_wrapper_knows_the_call_and_keeps_the_original():
    call, raised = Call(), ValueError("x")

    error = propagate_error(raised, "a.inner", call)
    call.call_chain.append("a.later")

    assert error.cause is raised
    assert error.__cause__ is raised
    assert (error.trace_id, error.module_id, error.chain) == (call.trace_id, "a.inner", ["a.inner"])
    assert error.call_chain == ["a.outer", "a.inner"]
    assert error.timestamp


@pytest.mark.parametrize(
    "raised", [FileNotFoundError("/etc/secret"), PermissionError("/etc/secret"), OSError("hunter2")]
)
def test_wrapper_names_the_type_and_never_repeats_the_text(raised):
    error = propagate_error(raised, "a.inner", Call())

    assert error.details == {"type": type(raised).__name__}
    assert error.message == f"Module 'a.inner' failed: unexpected error ({type(raised).__name__})"
    assert "secret" not in str(error.to_dict())
