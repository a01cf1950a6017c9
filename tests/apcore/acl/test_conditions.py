import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.acl.conditions import Handlers, Vocabulary, compile_conditions
from apcore.context import Context, Identity
from apcore.errors import ACLRuleError


def context(kind="user", roles=(), depth=0):
    return Context.create(identity=Identity("someone", kind, roles), call_chain=["a.b"] * depth)


def holds(conditions, on, custom=None):
    condition = compile_conditions(conditions, Vocabulary(custom or {}))
    return condition.holds(on)


def holds_async(conditions, on, custom=None):
    condition = compile_conditions(conditions, Vocabulary(custom or {}))
    return asyncio.run(condition.answer(on))


def fails(value, context):
    raise ValueError


async def says(value, context):
    return value


async def fails_async(value, context):
    raise ValueError


CUSTOM = {
    "sync": Handlers(lambda value, context: value, None),
    "fails": Handlers(fails, None),
    "async": Handlers(None, says),
    "fails_async": Handlers(None, fails_async),
    "both": Handlers(lambda value, context: value, says),
}


@pytest.mark.parametrize(
    ("conditions", "named"),
    [
        ({"role": ["admin"]}, "role"),
        ({"roles": "admin"}, "roles"),
        ({"roles": [1]}, "roles"),
        ({"identity_types": None}, "identity_types"),
        ({"max_call_depth": "5"}, "max_call_depth"),
        ({"max_call_depth": True}, "max_call_depth"),
        ({"max_call_depth": -1}, "max_call_depth"),
        ({"$or": {"roles": ["a"]}}, r"\$or"),
        ({"$or": ["roles"]}, r"\$or"),
        ({"$not": ["roles"]}, r"\$not"),
        ({"$not": {"$or": [{"role": ["a"]}]}}, "role"),
        ({"$and": []}, r"\$and"),
    ],
)
def test_unknown_conditions_and_wrong_values_are_refused_by_name(conditions, named):
    with pytest.raises(ACLRuleError, match=f"condition '{named}'"):
        compile_conditions(conditions, Vocabulary())


@pytest.mark.req("R-6.1-06", "R-12.4-10")
@pytest.mark.parametrize("wanted", ["user", "service", "agent", "api_key", "system"])
def test_an_identity_type_matches_itself_only(wanted):
    for kind in ["user", "service", "agent", "api_key", "system"]:
        assert holds({"identity_types": [wanted]}, context(kind)) is (kind == wanted)


@pytest.mark.req("R-6.1-07")
def test_one_role_in_common_is_enough():
    conditions = {"roles": ["admin", "finance"]}
    assert holds(conditions, context(roles=["x", "admin"])) is True
    assert holds(conditions, context(roles=["x"])) is False
    assert holds(conditions, context(roles=[])) is False


@pytest.mark.parametrize("conditions", [{"roles": ["admin"]}, {"identity_types": ["user"]}])
def test_nobody_has_no_type_and_no_role(conditions):
    assert holds(conditions, Context.create()) is False


@pytest.mark.req("R-6.1-08")
def test_a_chain_of_the_given_length_passes_and_a_longer_one_does_not():
    assert holds({"max_call_depth": 2}, context(depth=2)) is True
    assert holds({"max_call_depth": 2}, context(depth=3)) is False


@pytest.mark.req("R-6.1-04")
def test_all_conditions_of_an_object_must_hold():
    conditions = {"roles": ["admin"], "identity_types": ["user"]}
    assert holds(conditions, context("user", ["admin"])) is True
    assert holds(conditions, context("service", ["admin"])) is False
    assert holds(conditions, context("user", [])) is False


@pytest.mark.req("R-6.1-09", "R-6.1-10")
@pytest.mark.parametrize(
    ("kind", "roles", "expected"),
    [("user", ["admin"], True), ("service", ["admin"], True), ("user", [], False), ("service", [], True)],
)
def test_alternatives_and_negations_nest(kind, roles, expected):
    conditions = {"$or": [{"roles": ["admin"]}, {"$not": {"identity_types": ["user"]}}]}
    assert holds(conditions, context(kind, roles)) is expected
    assert holds_async(conditions, context(kind, roles)) is expected


@pytest.mark.req("R-6.1-11")
@pytest.mark.parametrize("conditions", [{"$not": {}}, {"$or": []}, {"$or": [{}]}])
def test_an_empty_operator_never_holds(conditions):
    assert holds(conditions, context(roles=["admin"])) is False
    assert holds_async(conditions, context(roles=["admin"])) is False


@pytest.mark.req("R-6.1-13", "R-6.1-14")
def test_an_async_condition_cannot_be_told_in_a_sync_check(caplog):
    assert holds({"async": True}, context(), CUSTOM) is None
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "'async'" in caplog.text


@pytest.mark.req("R-6.1-13")
def test_a_negation_does_not_turn_the_untold_into_a_yes():
    assert holds({"$not": {"async": True}}, context(), CUSTOM) is None
    assert holds({"$not": {"fails": True}}, context(), CUSTOM) is None
    assert holds_async({"$not": {"fails_async": True}}, context(), CUSTOM) is None


@pytest.mark.req("R-6.1-12")
@pytest.mark.parametrize("operator", [lambda each: each, lambda each: {"$or": [{"roles": ["admin"]}, each]}])
def test_an_async_check_awaits_async_conditions(operator):
    assert holds_async(operator({"async": True}), context(), CUSTOM) is True
    assert holds_async(operator({"async": False}), context(), CUSTOM) is False
    assert holds_async({"$not": operator({"async": False})}, context(), CUSTOM) is True


@pytest.mark.req("R-6.1-15")
def test_a_condition_with_both_handlers_works_in_both_checks():
    assert holds({"both": True}, context(), CUSTOM) is True
    assert holds_async({"both": True}, context(), CUSTOM) is True


@pytest.mark.parametrize("answer", [1, "yes", ["x"], None])
def test_only_a_boolean_is_an_answer(answer, caplog):
    assert holds({"sync": answer}, context(), CUSTOM) is None
    assert holds_async({"async": answer}, context(), CUSTOM) is None
    assert "not a bool" in caplog.text


@pytest.mark.parametrize("error", [ValueError("hunter2"), SystemExit("hunter2"), asyncio.CancelledError("hunter2")])
def test_a_handler_that_fails_gives_no_answer_and_its_text_is_not_logged(error, caplog):
    def fail(value, context):
        raise error

    async def fail_later(value, context):
        raise error

    custom = {"sync": Handlers(fail, None), "async": Handlers(None, fail_later)}
    assert holds({"sync": 1}, context(), custom) is None
    assert holds_async({"async": 1}, context(), custom) is None
    assert caplog.text.count(type(error).__name__) == 2
    assert "hunter2" not in caplog.text


def test_a_sync_handler_that_returns_a_coroutine_is_no_yes():
    custom = {"lazy": Handlers(lambda value, context: says(True, context), None)}
    assert holds({"lazy": 1}, context(), custom) is None


def test_a_handler_gets_the_value_of_the_rule_and_the_context():
    seen = []
    custom = {"spy": Handlers(lambda *arguments: bool(seen.append(arguments)), None)}
    on = context()
    holds({"spy": {"a": 1}}, on, custom)
    assert seen == [({"a": 1}, on)]


leaves = st.sampled_from([{"sync": True}, {"sync": False}, {"fails": 1}])
trees = st.recursive(
    leaves,
    lambda inner: (
        st.builds(lambda each: {"$not": each}, inner)
        | st.builds(lambda each: {"$or": each}, st.lists(inner, max_size=3))
        | st.builds(lambda first, second: {**first, "$not": second}, leaves, inner)
    ),
    max_leaves=8,
)


def oracle(conditions):
    """Kleene's three-valued logic, written down naively: 1 yes, 0 no, 0.5 untold."""
    values = {"sync": float, "fails": lambda value: 0.5}
    values["$not"] = lambda value: 1 - oracle(value)
    values["$or"] = lambda value: max((oracle(each) for each in value), default=0)
    return min(values[key](value) for key, value in conditions.items())


@pytest.mark.req("R-6.1-09", "R-6.1-10", "R-6.1-12")
@given(conditions=trees)
def test_sync_and_async_agree_with_the_logic(conditions):
    expected = {1: True, 0: False, 0.5: None}[oracle(conditions)]
    assert holds(conditions, context(), CUSTOM) is expected
    assert holds_async(conditions, context(), CUSTOM) is expected
