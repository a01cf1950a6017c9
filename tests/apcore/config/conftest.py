import os

import pytest

from apcore.testing import isolated_namespaces


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """The framework's own namespaces, an environment that says nothing, an empty working directory and home."""
    for name in os.environ:
        if name.startswith("APCORE_") or name == "XDG_CONFIG_HOME":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    with isolated_namespaces():
        yield


@pytest.fixture
def write(tmp_path):
    """Writes a file below the working directory and returns its path."""

    def written(name: str, text: str):
        file = tmp_path / "work" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    return written
