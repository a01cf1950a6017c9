import pytest

from apcore.ids import classify, is_reader, is_system_module


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
    ("module_id", "only_looks"),
    [
        ("system.health.module", True),
        ("system.usage.summary", True),
        ("system.manifest.full", True),
        ("system.control.toggle_feature", False),
        ("system.acme.status", False),
        ("store.orders.find", False),
    ],
)
def test_what_only_looks_is_known_by_its_prefix(module_id, only_looks):
    assert is_reader(module_id) is only_looks


@pytest.mark.parametrize(
    ("module_id", "is_one"), [("system.acme.status", True), ("systems.a", False), ("a.system.b", False)]
)
def test_all_below_system_are_the_frameworks_own(module_id, is_one):
    assert is_system_module(module_id) is is_one
