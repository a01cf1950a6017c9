"""The wire format of errors and the way back."""

import copy
import json
import pickle
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.context import Context
from apcore.errors import (
    ACLDeniedError,
    ApprovalError,
    BindingSchemaInferenceFailedError,
    InvalidInputError,
    ModuleError,
    ModuleExecuteError,
    ModuleTimeoutError,
    PipelineStepError,
    SchemaValidationError,
    propagate_error,
)


@pytest.mark.req("R-8.1-01", "R-8.5-01")
def test_all_fields_are_serialised():
    error = InvalidInputError(
        "Invalid table name",
        code="DB_PARAMS_INVALID_TABLE",
        details={"field": "table"},
        cause=ACLDeniedError("No"),
        trace_id="4bf92f3577b34da6a3ce929d0e0e4736",
        ai_guidance="validate first",
        user_fixable=True,
        suggestion="Use lower case",
    )

    data = error.to_dict()

    assert data.pop("timestamp") == error.timestamp
    assert data.pop("cause")["code"] == "ACL_DENIED"
    assert data == {
        "code": "DB_PARAMS_INVALID_TABLE",
        "message": "Invalid table name",
        "details": {"field": "table"},
        "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
        "retryable": False,
        "ai_guidance": "validate first",
        "user_fixable": True,
        "suggestion": "Use lower case",
    }


@pytest.mark.req("R-8.1.1-01", "R-8.1.1-03", "R-8.1.1-04")
def test_what_is_null_is_left_out():
    error = ModuleExecuteError("Boom")

    assert (error.ai_guidance, error.user_fixable, error.suggestion, error.retryable) == (None, None, None, None)
    assert error.to_dict().keys() == {"code", "message", "timestamp"}


@pytest.mark.req("R-8.1-02")
def test_timestamp_is_iso_8601_in_utc():
    assert datetime.fromisoformat(ModuleError().timestamp).utcoffset() == timedelta(0)


def test_text_of_a_foreign_cause_is_not_serialised():
    error = ModuleExecuteError("Boom", cause=ValueError("password=hunter2"))

    assert "hunter2" not in json.dumps(error.to_dict())
    assert "cause" not in error.to_dict()


@pytest.mark.req("R-8.3-06")
def test_cause_is_what_raise_from_sets():
    given_cause, raised_cause = KeyError("a"), KeyError("b")
    error = ModuleError("Boom", cause=given_cause)
    assert (error.cause, error.__cause__) == (given_cause, given_cause)

    with pytest.raises(ModuleError) as caught:
        raise ModuleError("Boom") from raised_cause
    assert caught.value.cause is raised_cause


@pytest.mark.req("R-8.1.1-02", "R-8.6-03")
@pytest.mark.parametrize("retryable", [True, False, None])
def test_retryable_is_overridden_per_instance(retryable):
    assert ModuleTimeoutError().retryable is True
    assert ModuleTimeoutError(retryable=retryable).retryable is retryable
    assert ModuleTimeoutError.retryable is True


def test_http_status_and_code_are_overridden_per_instance():
    error = ModuleError("Teapot", code="TEA_POT", http_status=418)

    assert (error.code, error.http_status) == ("TEA_POT", 418)
    assert (ModuleError.code, ModuleError.http_status) == ("MODULE_EXECUTE_ERROR", 500)


def test_an_error_without_text_has_one():
    assert str(ACLDeniedError()) == "Access denied"


def test_details_are_copied():
    details = {"a": 1}
    error = ModuleError("Boom", details=details)
    details["a"] = 2

    assert error.details == {"a": 1}


def test_decoding_gives_the_class_that_owns_the_code():
    original = SchemaValidationError("Bad", errors=[{"path": "/a", "message": "is required"}], trace_id="ff")

    decoded = ModuleError.from_dict(original.to_dict())

    assert type(decoded) is SchemaValidationError
    assert decoded.to_dict() == original.to_dict()


@pytest.mark.req("R-13.5-03")
def test_unknown_code_decodes_into_the_base_class():
    decoded = ModuleError.from_dict({"code": "X_Y", "message": "What?", "cause": None, "retryable": None})

    assert (type(decoded), decoded.code, decoded.retryable) == (ModuleError, "X_Y", None)


@pytest.mark.req("R-8.2-23")
def test_renamed_code_decodes_into_the_class_of_today():
    decoded = ModuleError.from_dict({"code": "BINDING_SCHEMA_MISSING", "message": "Old"})

    assert type(decoded) is BindingSchemaInferenceFailedError
    assert decoded.code == "BINDING_SCHEMA_INFERENCE_FAILED"


def test_subclass_without_its_own_code_does_not_capture_the_code_of_its_base():
    class OurDeniedError(ACLDeniedError):
        def __init__(self) -> None:
            super().__init__("Ours")

    assert type(ModuleError.from_dict(ACLDeniedError("No").to_dict())) is ACLDeniedError
    assert type(ModuleError.from_dict(OurDeniedError().to_dict())) is ACLDeniedError


def test_causes_are_decoded():
    error = ModuleError("Outer", cause=ACLDeniedError("Inner"))

    decoded = ModuleError.from_dict(error.to_dict())

    assert type(decoded.cause) is ACLDeniedError
    assert decoded.cause.message == "Inner"


optional_texts = st.none() | st.text(min_size=1)


@given(
    message=st.text(min_size=1),
    details=st.dictionaries(st.text(), st.integers() | st.text() | st.none()),
    trace_id=optional_texts,
    user_fixable=st.none() | st.booleans(),
    suggestion=optional_texts,
)
def test_encoding_and_decoding_are_inverse(message, details, trace_id, user_fixable, suggestion):
    error = InvalidInputError(
        message, details=details, trace_id=trace_id, user_fixable=user_fixable, suggestion=suggestion
    )
    data = error.to_dict()

    assert ModuleError.from_dict(json.loads(json.dumps(data))).to_dict() == data
    assert pickle.loads(pickle.dumps(error)).to_dict() == data


class Forgetful(ModuleError):
    """Calls no constructor above its own, which takes other arguments."""

    def __init__(self, left, right):
        self.left = left


class Silent(ModuleError):
    def __init__(self):
        Exception.__init__(self)


CONTEXT = Context.create().enter("a.b")


@pytest.mark.req("R-8.3-01")
@pytest.mark.parametrize("error", [Forgetful("x", "y"), Silent()])
def test_an_error_that_forgets_the_constructor_still_reaches_the_caller(error):
    propagated = propagate_error(error, "a.b", CONTEXT)

    assert propagated is error
    assert (propagated.trace_id, propagated.chain) == (CONTEXT.trace_id, ["a.b"])
    json.dumps(propagated.to_dict())
    assert propagated.message


def test_causes_that_go_round_in_a_circle_are_told_once():
    first, second = ModuleError("first"), ACLDeniedError("second")
    first.__cause__, second.__cause__ = second, first

    data = first.to_dict()

    assert (data["message"], data["cause"]["message"], "cause" in data["cause"]) == ("first", "second", False)


def test_of_a_long_chain_of_causes_the_first_are_told():
    error = ModuleError("0")
    for number in range(1, 5_000):
        error = ModuleError(str(number), cause=error)

    assert json.dumps(error.to_dict()).count('"cause"') == 20


@pytest.mark.parametrize("value", [object(), {1}, b"x", float("nan"), datetime(2026, 1, 1), ValueError("hunter2")])
def test_details_are_told_in_json_whatever_they_hold(value):
    error = SchemaValidationError("Bad", details={"value": value}, errors=[{"path": "/a", "actual": value}])
    error.details["itself"] = error.details

    assert "hunter2" not in json.dumps(error.to_dict(), allow_nan=False)


@pytest.mark.parametrize("details", [5, "text", [1]])
def test_details_of_another_form_do_not_make_the_error_fail(details):
    assert ModuleError("Boom", details=details).to_dict()["details"] == {"details": details}


@pytest.mark.parametrize(
    "data",
    [
        None,
        5,
        "x",
        [],
        {},
        {"message": "x"},
        {"code": None},
        {"code": 1},
        {"code": "X", "message": 5},
        {"code": "X", "details": "x"},
        {"code": "X", "cause": "x"},
        {"code": "MODULE_TIMEOUT", "retryable": "yes"},
        {"code": "X", "cause": {"code": 5}},
    ],
)
def test_what_is_no_written_error_is_refused(data):
    with pytest.raises(ModuleError, match="no error as to_dict") as caught:
        ModuleError.from_dict(data)

    assert (caught.value.code, caught.value.http_status) == ("GENERAL_INVALID_INPUT", 400)


def every_error_class(base=ModuleError):
    found = {base}.union(*(every_error_class(each) for each in base.__subclasses__()))
    return {each for each in found if each.__module__.startswith("apcore.errors")}


@pytest.mark.parametrize("cls", sorted(every_error_class(), key=lambda cls: cls.__qualname__))
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_copies_and_pickles_of_every_error_say_the_same(cls, copied):
    first = {ApprovalError: [{"status": "pending"}], PipelineStepError: ["a step"]}
    arguments = next((each for base, each in first.items() if issubclass(cls, base)), [])
    error = cls(*arguments, ValueError() if cls is PipelineStepError else "What went wrong", trace_id="0" * 32)

    same = copied(error)

    assert type(same) is cls
    assert (same.to_dict(), str(same), vars(same).get("result")) == (
        error.to_dict(),
        str(error),
        vars(error).get("result"),
    )
