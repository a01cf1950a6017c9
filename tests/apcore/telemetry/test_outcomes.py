import pytest

from apcore.errors import ErrorCodes, ModuleError, ModuleNotFoundError, SchemaValidationError
from apcore.telemetry.outcomes import error_code_of, is_fault, is_waiting


def test_every_error_has_a_code_of_the_protocol():
    assert error_code_of(None) is None
    assert error_code_of(ModuleNotFoundError("no")) == "MODULE_NOT_FOUND"
    assert error_code_of(KeyError()) == ErrorCodes.GENERAL_INTERNAL_ERROR


def test_who_waits_for_a_person_has_not_failed():
    assert is_waiting(ErrorCodes.APPROVAL_PENDING)
    assert not is_waiting(ErrorCodes.APPROVAL_DENIED)
    assert not is_waiting(None)


def failure(error, step, module_id="a.one"):
    error.module_id, error.details["step"] = module_id, step
    return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (failure(ModuleError("no"), "execute"), True),
        (failure(ModuleError("no", http_status=404), "execute"), False),
        (failure(ModuleError("no", http_status=499), "execute"), False),
        (failure(SchemaValidationError("no"), "input_validation"), False),
        (failure(SchemaValidationError("no"), "output_validation"), True),
        (failure(SchemaValidationError("no"), "input_validation", "a.other"), True),
        (failure(ModuleError("no", http_status=403), "acl_check", "a.other"), False),
        (failure(ModuleError("no"), "execute", "a.other"), True),
    ],
)
def test_which_errors_are_the_modules_own(error, expected):
    assert is_fault(error, "a.one") is expected
