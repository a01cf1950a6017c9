import pickle

import pytest

from apcore.errors import ACLDeniedError, ModuleError, PipelineStepError


@pytest.mark.req("R-5.16-01")
def test_speaks_with_the_voice_of_the_original():
    original = ACLDeniedError("Not you")

    error = PipelineStepError("acl_check", original)

    assert isinstance(error, ModuleError)
    assert (error.code, error.http_status, error.retryable) == ("ACL_DENIED", 403, False)
    assert (error.step, error.original, error.cause) == ("acl_check", original, original)
    assert error.details == {"step": "acl_check"}


def test_text_of_a_foreign_original_is_not_repeated():
    error = PipelineStepError("execute", ValueError("password=hunter2"))

    assert str(error) == "Step 'execute' failed: ValueError"
    assert (error.code, error.retryable) == ("MODULE_EXECUTE_ERROR", None)


def test_survives_pickling():
    arrived = pickle.loads(pickle.dumps(PipelineStepError("acl_check", ACLDeniedError("Not you"))))

    assert (arrived.step, arrived.code, arrived.original.message) == ("acl_check", "ACL_DENIED", "Not you")
