import pytest

from apcore import Context, Executor, Middleware, Registry, module
from apcore.modules import define_module
from apcore.modules.conventions import CONTEXT_FIELDS, misplaced_context_keys


@module(
    id="shop.refund",
    metadata={"billing": {"category": "money"}, "x-required-context-keys": ["preferences", "trace_id", "caller_id"]},
)
def refund(order: int) -> dict:
    """Pay money back."""
    return {"refunded": order}


def test_the_fields_are_those_of_a_context():
    slots = {name for name in Context.__slots__ if not name.startswith("_")}
    properties = {name for name, value in vars(Context).items() if isinstance(value, property)}
    assert slots | {"redacted_inputs"} <= CONTEXT_FIELDS
    assert slots | properties >= CONTEXT_FIELDS


@pytest.mark.req("R-4.6-06")
def test_context_keys_are_keys_of_its_data():
    assert misplaced_context_keys(refund.metadata) == ["trace_id", "caller_id"]
    assert misplaced_context_keys({"x-required-context-keys": ["preferences"]}) == []
    assert misplaced_context_keys({"x-required-context-keys": "trace_id"}) == misplaced_context_keys({}) == []


@pytest.mark.req("R-4.6-06")
def test_others_are_pointed_out_and_nothing_is_refused(caplog):
    assert define_module("shop.refund", refund).metadata == refund.metadata
    assert "x-required-context-keys" in caplog.text
    assert "trace_id, caller_id" in caplog.text


@pytest.mark.req("R-4.6-03")
def test_middleware_reads_metadata():
    seen = []

    class Billing(Middleware):
        def before(self, module_id, inputs, context):
            definition = context.executor.registry.get_definition(module_id)
            seen.append(definition.metadata["billing"]["category"])

    registry = Registry()
    registry.register(refund.id, refund)
    executor = Executor(registry)
    executor.use(Billing())

    assert executor.call("shop.refund", {"order": 1}) == {"refunded": 1}
    assert seen == ["money"]
