import pickle

import pytest

from apcore.errors import ApprovalDeniedError, ApprovalError, ApprovalPendingError, ModuleError


@pytest.mark.req("R-7.5-01", "R-7.5-02")
@pytest.mark.parametrize("cls", [ApprovalDeniedError, ApprovalPendingError])
def test_result_is_carried(cls):
    result = {"status": "rejected", "approval_id": "42"}

    error = cls(result, "Not today", details={"approval_id": "42"})

    assert isinstance(error, ApprovalError)
    assert error.result is result
    assert error.to_dict()["message"] == "Not today"
    assert error.to_dict()["details"] == {"approval_id": "42"}


def test_result_survives_pickling_and_is_none_after_decoding():
    error = ApprovalPendingError({"approval_id": "42"}, "Wait")

    assert pickle.loads(pickle.dumps(error)).result == {"approval_id": "42"}
    decoded = ModuleError.from_dict(error.to_dict())
    assert (type(decoded), decoded.result) == (ApprovalPendingError, None)
