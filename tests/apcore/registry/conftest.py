from pathlib import Path
from textwrap import dedent

import pytest


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
