from apcore.errors import ErrorCodes, ModuleNotFoundError
from apcore.telemetry.outcomes import error_code_of, is_waiting


def test_every_error_has_a_code_of_the_protocol():
    assert error_code_of(None) is None
    assert error_code_of(ModuleNotFoundError("no")) == "MODULE_NOT_FOUND"
    assert error_code_of(KeyError()) == ErrorCodes.GENERAL_INTERNAL_ERROR


def test_who_waits_for_a_person_has_not_failed():
    assert is_waiting(ErrorCodes.APPROVAL_PENDING)
    assert not is_waiting(ErrorCodes.APPROVAL_DENIED)
    assert not is_waiting(None)
