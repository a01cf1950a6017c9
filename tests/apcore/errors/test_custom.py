import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.errors import (
    FRAMEWORK_CODES,
    ErrorCodeCollisionError,
    detect_error_code_collisions,
    error_code_prefix,
)


@pytest.mark.req("R-8.4-01")
def test_prefix_is_the_last_segment_in_capitals():
    assert error_code_prefix("executor.validator.db_params") == "DB_PARAMS"
    assert error_code_prefix("single") == "SINGLE"


@pytest.mark.req("R-8.4-07")
def test_all_codes_are_returned_and_the_framework_set_is_left_alone():
    framework = {"MODULE_NOT_FOUND"}

    codes = detect_error_code_collisions(framework, {"a.one": ["ONE_BROKEN"], "a.two": ["TWO_BROKEN", "TWO_LATE"]})

    assert codes == {"MODULE_NOT_FOUND", "ONE_BROKEN", "TWO_BROKEN", "TWO_LATE"}
    assert framework == {"MODULE_NOT_FOUND"}


@pytest.mark.req("R-8.4-04")
def test_one_code_of_two_modules_collides():
    with pytest.raises(ErrorCodeCollisionError) as caught:
        detect_error_code_collisions((), {"a.one": ["X_BROKEN"], "b.one": ["X_BROKEN"]})

    assert caught.value.details == {"error_code": "X_BROKEN", "module_id": "b.one", "owner": "module 'a.one'"}


@pytest.mark.req("R-8.4-06")
@pytest.mark.parametrize(
    "code",
    [
        *["MODULE_NOT_FOUND", "SCHEMA_FOO", "ACL_X", "GENERAL_X", "MODULE_X", "CIRCULAR_CALL"],
        "BINDING_SCHEMA_MISSING",  # what written errors of earlier releases are decoded from
    ],
)
def test_codes_of_the_framework_are_refused(code):
    with pytest.raises(ErrorCodeCollisionError):
        detect_error_code_collisions(FRAMEWORK_CODES, {"a.one": [code]})


@given(st.dictionaries(st.text(min_size=1), st.lists(st.from_regex(r"[A-Z]{1,2}_[A-Z]{1,2}", fullmatch=True))))
def test_codes_are_either_all_distinct_or_refused(module_codes):
    codes = [code for each in module_codes.values() for code in each]
    try:
        found = detect_error_code_collisions(FRAMEWORK_CODES, module_codes)
    except ErrorCodeCollisionError:
        assert len(codes) > len(set(codes)) or FRAMEWORK_CODES & set(codes)
    else:
        assert len(codes) == len(set(codes))
        assert found == FRAMEWORK_CODES | set(codes)
