"""The components of §12.1 are there, under their names or as what stands for them."""

from __future__ import annotations

import subprocess
import sys

import pytest

import apcore


@pytest.mark.req("R-12.1-01")
@pytest.mark.parametrize(
    ("component", "name", "methods"),
    [
        ("IDConverter", "normalize_to_canonical_id", []),
        ("IDConverter", "from_canonical", []),
        ("SchemaLoader", "SchemaLoader", ["load"]),
        ("Registry", "Registry", ["discover", "get", "list", "describe"]),
        ("Executor", "Executor", ["call", "call_async", "validate", "stream"]),
        ("ACLChecker", "ACL", ["check"]),
        ("MiddlewareManager", "MiddlewareManager", ["add", "run_chain"]),
        ("TracingProvider", "TracingProvider", ["start_span", "end_span"]),
        ("MetricsCollector", "MetricsCollector", ["increment", "observe"]),
    ],
)
def test_each_component_has_its_methods(component: str, name: str, methods: list[str]) -> None:
    found = getattr(apcore, name)
    assert callable(found), component
    assert [method for method in methods if not callable(getattr(found, method, None))] == []


@pytest.mark.req("R-12.2-44")
def test_the_core_works_where_no_web_framework_can_be_imported() -> None:
    program = """
import sys
for name in ("django", "flask", "fastapi", "celery", "rest_framework"):
    sys.modules[name] = None
import apcore
for name in apcore.__all__:
    getattr(apcore, name)
apcore.build_app()
print(len(apcore.__all__))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100
