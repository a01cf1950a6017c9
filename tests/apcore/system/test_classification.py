import pytest

from apcore.system import classify, is_system_module


@pytest.mark.req("R-6.6.2-01", "R-6.6.2-02")
@pytest.mark.parametrize(
    ("module_id", "kind"),
    [
        ("system.health.summary", "observability"),
        ("system.usage.module", "observability"),
        ("system.manifest.full", "introspection"),
        ("system.control.x", "administration"),
        ("system.acme.status", None),
        ("system.healthy", None),
        ("store.system.health", None),
    ],
)
def test_the_prefix_says_what_kind_a_module_is(module_id, kind):
    assert classify(module_id) == kind


@pytest.mark.parametrize(
    ("module_id", "is_one"), [("system.acme.status", True), ("systems.a", False), ("a.system.b", False)]
)
def test_all_below_system_are_the_frameworks_own(module_id, is_one):
    assert is_system_module(module_id) is is_one
