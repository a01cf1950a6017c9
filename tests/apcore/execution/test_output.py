"""What a module may return."""

import pytest

from apcore.errors import SchemaValidationError
from apcore.execution import Executor
from apcore.modules import module
from apcore.registry import Registry


@module(id="test.wrong", output_schema={"type": "object", "properties": {"name": {"type": "integer"}}})
def wrong(name: str) -> dict[str, str]:
    """Give a text for a number"""
    return {"name": name}


def test_an_output_that_does_not_fit_is_no_mistake_of_the_caller() -> None:
    registry = Registry()
    registry.register("test.wrong", wrong)
    with pytest.raises(SchemaValidationError) as caught:
        Executor(registry).call("test.wrong", {"name": "x"})
    told = "The output of 'test.wrong' does not fit its schema: /name must be integer, not string"
    assert caught.value.message == told
    assert caught.value.user_fixable is False
    assert caught.value.errors[0]["path"] == "/name"
