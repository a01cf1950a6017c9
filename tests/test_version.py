"""The version stands in pyproject.toml; the changelog and an installed distribution must agree with it."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_changelog_starts_with_the_version_of_the_distribution() -> None:
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert headings[0] == PROJECT["version"]


def test_the_installed_distribution_is_this_one() -> None:
    assert version(PROJECT["name"]) == PROJECT["version"]
