import math

import pytest

from apcore import resolve_target
from apcore.errors import (
    BindingCallableNotFoundError,
    BindingInvalidTargetError,
    BindingModuleNotFoundError,
    BindingNotCallableError,
)
from tests.apcore.discovery import targets

HERE = "tests.apcore.discovery.targets"


@pytest.mark.req("R-5.12.3-01", "R-5.12.8-01")
@pytest.mark.parametrize(
    "target",
    ["", "myapp.mod.func", ":f", "mod:", "a:b:c", "a b:c", ".mod:f", "mod:f.", "mod::f", "1a:b", f"{HERE}:Message"],
)
def test_another_form_is_invalid(target):
    with pytest.raises(BindingInvalidTargetError) as caught:
        resolve_target(target)
    assert caught.value.code == "BINDING_INVALID_TARGET"
    assert caught.value.details == {"target_id": target}


@pytest.mark.req("R-5.12.3-02", "R-5.12.8-01")
@pytest.mark.parametrize("target", ["no.such.mod:f", "tests.apcore.discovery.no_such:f"])
def test_a_module_that_cannot_be_imported_is_not_found(target):
    with pytest.raises(BindingModuleNotFoundError) as caught:
        resolve_target(target)
    assert caught.value.code == "BINDING_MODULE_NOT_FOUND"
    assert isinstance(caught.value.cause, ImportError)


@pytest.mark.req("R-5.12.3-02")
def test_a_module_that_fails_while_it_is_imported_is_not_found(write, monkeypatch, tmp_path):
    write("broken_target.py", "1 / 0")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(BindingModuleNotFoundError, match="ZeroDivisionError"):
        resolve_target("broken_target:f")


@pytest.mark.req("R-5.12.3-03", "R-5.12.3-04", "R-5.12.8-01")
@pytest.mark.parametrize(
    "target",
    ["os:nope", f"{HERE}:Nobody.run", f"{HERE}:EmailService.nope", f"{HERE}:Demanding.run", f"{HERE}:NUMBER.x"],
)
def test_a_name_that_is_not_there_is_not_found(target):
    with pytest.raises(BindingCallableNotFoundError) as caught:
        resolve_target(target)
    assert caught.value.code == "BINDING_CALLABLE_NOT_FOUND"


@pytest.mark.req("R-5.12.3-05", "R-5.12.8-01")
@pytest.mark.parametrize("target", ["math:pi", f"{HERE}:NUMBER", f"{HERE}:EmailService.sender"])
def test_what_cannot_be_called_is_no_target(target):
    with pytest.raises(BindingNotCallableError) as caught:
        resolve_target(target)
    assert caught.value.code == "BINDING_NOT_CALLABLE"


@pytest.mark.req("R-5.12.3-03")
def test_what_is_found_can_be_called():
    assert resolve_target("math:sqrt") is math.sqrt
    assert resolve_target(f"{HERE}:send_email") is targets.send_email
    assert resolve_target(f"{HERE}:EmailService.send_template")("x") == {"sent": "shop:x"}
    assert resolve_target(f"{HERE}:service.send_template")("x") == {"sent": "shop:x"}
