import logging
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apcore.acl import ACLDecision, ACLRule, Policy
from apcore.acl.conditions import Handlers, Vocabulary, compile_conditions
from apcore.acl.index import Entry, Index, keys_of
from apcore.acl.patterns import compile_patterns
from apcore.context import Context, Identity
from apcore.execution import drive
from apcore.ids import match_pattern


def rule(callers, targets, effect="deny", conditions=None):
    return ACLRule(tuple(callers), tuple(targets), effect, conditions=conditions)


def raises(value, context):
    raise ValueError(value)


VOCABULARY = Vocabulary(
    {
        "is": Handlers(lambda value, context: value, None),
        "raises": Handlers(raises, None),
        "no_bool": Handlers(lambda value, context: "yes", None),
    }
)

# A small alphabet, so that patterns and IDs meet often and many rules share a key.
ids = st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=4).map(".".join)
FORMS = [
    "1*",
    "1.*",
    "*1",
    "*.1",
    "*1*",
    "*.1*",
    "*1.*",
    "*.1.*",
    "1*2",
    "1.*.2",
    "*.1*2",
    "*1.*2",
    "1.*.2.*",
    "1*.2.*",
]
PARTS = ["a", "b", "ab", "a.b"]
WILDCARDS = sorted(
    {form.replace("1", first).replace("2", second) for form in FORMS for first in PARTS for second in PARTS}
)
patterns = ids | st.sampled_from(WILDCARDS) | st.lists(st.sampled_from("ab.*"), min_size=1, max_size=6).map("".join)
arrays = st.builds(
    lambda operator, array, late: operator + array + late,
    st.sampled_from([[], [], [], ["$or"], ["$not"]]),
    st.lists(patterns, max_size=4),
    st.sampled_from([[], [], [], ["$or"], ["$not"]]),
)
caller_arrays = arrays | st.builds(
    lambda operator, special, array: operator + special + array,
    st.sampled_from([[], ["$or"], ["$not"]]),
    st.sampled_from([["@external"], ["@system"], ["@external", "@system"]]),
    st.lists(patterns, max_size=2),
)
leaves = st.sampled_from(
    [
        {"roles": ["admin"]},
        {"identity_types": ["user", "system"]},
        {"max_call_depth": 1},
        {"is": True},
        {"is": False},
        {"raises": 1},
        {"no_bool": 1},
        {"is": True, "raises": 1},
        {"is": False, "raises": 1},
    ]
)
conditions = st.recursive(
    leaves,
    lambda inner: (
        st.builds(lambda each: {"$not": each}, inner | st.just({}))
        | st.builds(lambda each: {"$or": each}, st.lists(inner | st.just({}), max_size=3))
    ),
    max_leaves=4,
)
rules = st.builds(rule, caller_arrays, arrays, st.sampled_from(["allow", "deny"]), st.none() | conditions)
contexts = st.none() | st.builds(
    lambda kind, roles, chain: Context.create(identity=kind and Identity("x", kind, roles), call_chain=chain),
    st.sampled_from([None, "user", "system"]),
    st.sampled_from([[], ["admin"]]),
    st.lists(ids, max_size=2),
)
callers = st.none() | ids | st.sampled_from(["$or", "$not", "@system"])


@pytest.fixture(scope="module", autouse=True)
def _quiet():
    """The handlers that fail are logged, some thousand times."""
    logger = logging.getLogger("apcore.acl")
    logger.disabled = True
    yield
    logger.disabled = False


def plainly(rules, default, caller_id, target_id, context):
    """Every rule in turn, and no index: the effect and the number of the rule that decides."""
    caller = "@external" if caller_id is None else caller_id
    if not {caller, target_id}.isdisjoint({"$or", "$not"}):
        return "deny", None
    by_system = context is not None and context.identity is not None and context.identity.type == "system"
    for number, each in enumerate(rules):
        if not compile_patterns(each.callers, caller_is_system=by_system)(caller):
            continue
        if not compile_patterns(each.targets)(target_id):
            continue
        if each.conditions is None:
            return each.effect, number
        if context is None:
            continue
        answer = compile_conditions(each.conditions, VOCABULARY).holds(context)
        if answer or (answer is None and each.effect == "deny"):
            return each.effect, number
    return default, None


@pytest.mark.req("R-6.3-01", "R-6.3-02", "R-6.3-03", "R-6.1-09", "R-6.1-10", "R-6.1-11", "R-6.1-13", "R-6.2-05")
@pytest.mark.req("R-6.2.1-02", "R-6.2.1-03", "R-6.2.1-04", "R-6.5-01", "R-6.5-03", "R-6.5-04")
@settings(max_examples=250, deadline=None)
@given(
    rules=st.lists(rules, max_size=9),
    default=st.sampled_from(["allow", "deny"]),
    questions=st.lists(st.tuples(callers, ids | st.just("$not")), min_size=1, max_size=4),
    context=contexts,
)
def test_the_index_decides_as_the_plain_walk_does(rules, default, questions, context):
    policy = Policy(rules, default, VOCABULARY)
    for caller_id, target_id in questions:
        expected = plainly(rules, default, caller_id, target_id, context)
        for decision in (
            policy.first_match(caller_id, target_id, context),
            drive(policy.first_match_async(caller_id, target_id, context)),
        ):
            assert (decision.effect, decision.rule_index) == expected


def index_of(*rules):
    return Index(Entry(number, keys_of(each[0]), keys_of(each[1]), is_final=True) for number, each in enumerate(rules))


@pytest.mark.req("R-6.2-03", "R-6.2-04", "R-6.2-05")
def test_whatever_a_pattern_matches_is_found_under_its_key():
    names = [".".join(each) for size in (1, 2, 3) for each in product(["a", "b", "ab", "ba"], repeat=size)]
    for pattern in WILDCARDS:
        index = index_of((["x"], [pattern]))
        for name in names:
            assert not match_pattern(pattern, name) or list(index.candidates("x", name)) == [0], (pattern, name)


@settings(max_examples=400, deadline=None)
@given(patterns=st.lists(st.sampled_from(WILDCARDS), min_size=2, max_size=5), name=ids)
def test_the_first_match_is_proposed_whichever_side_tells_the_rules_apart(patterns, name):
    matching = {number for number, each in enumerate(patterns) if match_pattern(each, name)}
    by_target = list(index_of(*((["x"], [each, "other"]) for each in patterns)).candidates("x", name))
    by_caller = list(index_of(*(([each, "other"], ["x"]) for each in patterns)).candidates(name, "x"))
    for proposed in (by_target, by_caller):
        assert proposed == sorted(set(proposed))
        # Behind a rule that always decides nothing has to be proposed.
        assert min(matching, default=None) == next((number for number in proposed if number in matching), None)


MANY = range(2_000)


@pytest.mark.req("R-6.3-01")
@pytest.mark.parametrize(
    "others",
    [
        [(["*"], [f"other{number}.x"]) for number in MANY],
        [(["*"], [f"other{number}.*"]) for number in MANY],
        [(["*"], [f"pay.oth{number}*"]) for number in MANY],
        [(["*"], [f"*.other{number}.*"]) for number in MANY],
        [(["*"], [f"pay.*.other{number}"]) for number in MANY],
        [([f"other{number}.x"], ["*"]) for number in MANY],
        [([f"other{number}.*"], ["pay.*", f"own{number}.*"]) for number in MANY],
        [([f"*.other{number}"], ["pay.charge"]) for number in MANY],
        [([f"caller{number % 50}.x"], [f"pay.target{number // 50}"]) for number in MANY],
    ],
)
def test_the_number_of_rules_proposed_does_not_grow_with_the_list(others):
    index = index_of(*others, (["*"], ["pay.*"]))
    assert list(index.candidates("web.page", "pay.charge")) == [len(others)]


def test_rules_that_another_always_forestalls_are_not_proposed():
    index = index_of(*[(["*"], ["pay.*", f"own{number}.*"]) for number in MANY])
    assert list(index.candidates("web.page", "pay.charge")) == [0]


def test_lists_that_many_rules_share_are_not_filed_once_for_each_pair():
    wide = [f"m{number}.x" for number in MANY]
    index = index_of((wide, wide), (wide, wide))
    assert list(index.candidates("m7.x", "m8.x")) == [0]


@pytest.mark.req("R-6.3-03")
def test_a_condition_is_asked_once_however_many_patterns_of_its_rule_match():
    asked = []

    def refuse(value, context):
        asked.append(value)
        return False

    rules = [rule(["*", "a.*", "a.b"], ["c.*", "c.d", "*.d"], "allow", {"refuse": number}) for number in range(200)]
    decision = Policy(rules, "deny", Vocabulary({"refuse": Handlers(refuse, None)})).first_match(
        "a.b", "c.d", Context.create()
    )
    assert decision == ACLDecision("deny", None, None, "no rule matched, the default is deny")
    assert asked == list(range(200))
