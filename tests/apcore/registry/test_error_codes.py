"""The codes that modules declare: collected when they are registered, owned by one, and listed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from apcore.errors import ErrorCodeCollisionError, ModuleLoadError
from apcore.registry import Registry


def module_with(codes: Any) -> Any:
    class Coded:
        description = "Declares its errors"
        input_schema: Mapping[str, Any] = {"type": "object"}
        output_schema: Mapping[str, Any] = {"type": "object"}
        error_schema: Mapping[str, Any] = {"codes": codes}

        def execute(self, inputs: dict[str, Any], context: Any) -> dict[str, Any]:
            return {}

    return Coded


PARAMS = {
    "DB_PARAMS_INVALID_TABLE": {"description": "Invalid table name", "http_status": 400},
    "DB_PARAMS_SQL_INJECTION": {"description": "SQL injection detected", "http_status": 422},
}


@pytest.mark.req("R-8.4-02", "R-8.4-03", "R-8.4-05")
def test_codes_are_collected_at_registration_and_documented() -> None:
    registry = Registry()
    registry.register("executor.db_params", module_with(PARAMS))
    registry.register("executor.plain", module_with(None))
    assert registry.get_definition("executor.db_params").error_codes == PARAMS
    assert registry.error_codes == [
        {"code": code, "module_id": "executor.db_params", **meaning} for code, meaning in PARAMS.items()
    ]


@pytest.mark.req("R-8.4-03")
@pytest.mark.parametrize("code", ["DB_PARAMS_INVALID_TABLE", "ACL_DENIED", "MODULE_SOMETHING", "CONFIG_INVALID"])
def test_a_code_of_another_module_or_of_the_framework_is_refused(code: str) -> None:
    registry = Registry()
    registry.register("executor.db_params", module_with(PARAMS))
    with pytest.raises(ErrorCodeCollisionError):
        registry.register("executor.other", module_with({code: {"description": "mine"}}))
    assert not registry.has("executor.other")
    assert len(registry.error_codes) == 2


def test_the_codes_of_a_module_that_left_are_free() -> None:
    registry = Registry()
    registry.register("executor.db_params", module_with(PARAMS))
    registry.unregister("executor.db_params")
    assert registry.error_codes == []
    registry.register("executor.other", module_with(PARAMS))
    assert {each["module_id"] for each in registry.error_codes} == {"executor.other"}


def test_a_declaration_of_another_form_is_refused() -> None:
    with pytest.raises(ModuleLoadError, match=r"error_schema\.codes must map each code"):
        Registry().register("executor.bad", module_with(["A_CODE"]))
