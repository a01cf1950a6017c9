"""The table of precedence does what it says."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from django.test import override_settings

from apcore.config import REGISTRY
from django_apcore import runtime
from django_apcore.conf import load_config
from django_apcore.configuration import SECTIONS_OF_APCORE
from tests.docs.markdown import ROOT

PAGE = ROOT / "docs" / "reference" / "configuration.md"
KEY = "django-apcore.refresh_seconds"
HEAD = 'apcore: {version: "1.8.0", project: {name: shop}}\n'


def rows(heading: str) -> list[list[str]]:
    """The cells of the table that stands under this heading row, without their code marks."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index(heading) + 2
    body = lines[start : next(index for index in range(start, len(lines)) if not lines[index].startswith("|"))]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in body]


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("APCORE_CONFIG_FILE", raising=False)
    yield
    runtime.reset()


SOURCES = rows("| source | set by | then counts |")


@pytest.mark.req("R-9.6.2-01")
@pytest.mark.parametrize("last", range(len(SOURCES)), ids=[row[0] for row in SOURCES])
def test_the_further_down_the_stronger(last: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spoken = {source: code for source, code, _ in SOURCES[: last + 1]}
    settings = {}
    if "settings" in spoken:
        settings = ast.literal_eval(spoken["settings"].removeprefix("APCORE = "))
    if "file" in spoken:
        file = tmp_path / "apcore.yaml"
        file.write_text(f"{HEAD}{spoken['file']}\n")
        settings["CONFIG_FILE"] = str(file)
    if "environment" in spoken:
        monkeypatch.setenv(*spoken["environment"].split("="))
    with override_settings(APCORE=settings):
        config = load_config()
        for source in ("mount", "override"):
            if source in spoken:
                exec(spoken[source], {"config": config})
        found = config.get(KEY)
        kind = config.source(KEY).kind  # type: ignore[union-attr] # there is a default

    assert (kind, found) == (SOURCES[last][0], float(SOURCES[last][2]))


def test_the_table_names_every_source() -> None:
    assert [row[0] for row in SOURCES] == ["default", "settings", "mount", "file", "environment", "override"]


def test_settings_that_are_sections_of_apcore() -> None:
    places = {name.upper(): ".".join((namespace, *path)) for name, (namespace, path) in SECTIONS_OF_APCORE.items()}

    assert dict(rows("| setting | place |")) == places


@pytest.mark.parametrize("row", rows("| namespace | variables | example |"), ids=lambda row: row[0])
def test_variables(row: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    namespace, prefix, example = row
    name, value = example.split("=")
    monkeypatch.setenv(name, value)
    with override_settings(APCORE={}):
        config = load_config()
        [set_by_it] = [path for path, _, source in config.values() if source.detail == name]

    assert f"{REGISTRY.namespaces[namespace].env_prefix}_…" == prefix
    assert config.get(set_by_it) == yaml.safe_load(value)
    assert re.sub(r"[._-]", "", name.lower()).endswith(re.sub(r"[._-]", "", set_by_it.removeprefix(namespace)))
