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
def extensions(tmp_path):
    """The directory of the modules of a project, which is still empty."""
    directory = tmp_path / "extensions"
    directory.mkdir()
    return directory
