"""Hypothesis strategies that several test files share."""

from hypothesis import strategies as st

from apcore.context import Identity
from apcore.modules.change import UNSET, Change

identities = st.builds(
    Identity,
    id=st.text(min_size=1),
    type=st.sampled_from(["user", "service", "agent", "api_key", "system", "ai", "custom"]),
    roles=st.lists(st.text()).map(tuple),
    attrs=st.dictionaries(st.text(), st.integers() | st.text() | st.none()),
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)

one_line = st.text(st.characters(blacklist_characters="\n", blacklist_categories=("Cs",)), max_size=30)

changes = st.builds(
    Change,
    action=st.sampled_from(["insert", "update", "delete", "send"]),
    target=one_line,
    summary=one_line,
    before=st.just(UNSET) | json_values,
    after=st.just(UNSET) | json_values,
)
