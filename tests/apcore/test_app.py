import subprocess
import sys

import pytest

import apcore
from apcore import ACL, build_app, module


@module(id="math.add")
def add(a: int, b: int) -> dict:  # type: ignore[type-arg]  # as people write it
    """Add"""
    return {"sum": a + b}


def test_apps_share_nothing() -> None:
    one, other = build_app(), build_app(acl=ACL())
    one.registry.register("math.add", add)
    other.registry.register("math.add", add)
    one.toggles.set("math.add", enabled=False)
    assert other.toggles.is_enabled("math.add")
    assert one.acl is None
    assert other.executor.acl is other.acl
    assert one.executor.registry is one.registry


@pytest.mark.req("R-1.7-02")
def test_public_names_are_there_and_carry_no_prefix() -> None:
    assert all(hasattr(apcore, name) for name in apcore.__all__)
    assert not [name for name in apcore.__all__ if name.lower().startswith("apcore")]
    assert len(apcore.__all__) == len(set(apcore.__all__))


@pytest.mark.req("R-9.13.3-07")
def test_the_core_works_where_there_is_no_django() -> None:
    code = """
import sys
for name in ("django", "celery", "rest_framework"):
    sys.modules[name] = None
import apcore
assert all(hasattr(apcore, name) for name in apcore.__all__)
print(apcore.build_app().registry.list())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
