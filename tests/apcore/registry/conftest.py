import builtins
from pathlib import Path
from textwrap import dedent

import pytest

from apcore import Registry
from tests.apcore.registry.samples import LAZY


@pytest.fixture
def write(tmp_path):
    """Write a file below the temporary directory, and say where it is."""

    def write(name: str, text: str = "") -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text), encoding="utf-8")
        return file

    return write


@pytest.fixture
def project(tmp_path, monkeypatch):
    """An empty project with a directory for modules, as the current directory."""
    (tmp_path / "extensions").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def events(monkeypatch):
    """What the modules of a test write down."""
    events = []
    monkeypatch.setattr(builtins, "apcore_test_events", events, raising=False)
    return events


@pytest.fixture
def registry(monkeypatch):
    """A registry that the modules of a test can ask as well."""
    registry = Registry()
    monkeypatch.setattr(builtins, "apcore_test_registry", registry, raising=False)
    return registry


@pytest.fixture
def lazy(project, write, events, registry):
    """The registry with the discovered modules of these files, none of which was imported."""

    def lazy(**texts):
        for name, text in texts.items():
            write(f"extensions/{name}.py", text)
        assert registry.discover(LAZY) == sorted(texts)
        assert events == []
        return registry

    return lazy
