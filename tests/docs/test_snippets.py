"""Every code block of the manual does what the page says.

Python blocks of a page run from top to bottom in one namespace, on an empty database; a block that is titled "prints"
is what the block before it must print. Data must parse. Commands must exist and take their arguments.
"""

import contextlib
import io
import json
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from apcore.testing import isolated_namespaces
from project.store import models
from tests.docs.commands import problem_of
from tests.docs.markdown import PAGES, Block, blocks, page_name

PRINTS = "prints"
PARSERS: dict[str, Callable[[str], object]] = {"json": json.loads, "yaml": yaml.safe_load, "toml": tomllib.loads}
FOLLOWED_TO_THE_LETTER = {"docs/quickstart.md"}  # in a project of its own: test_quickstart.py
LANGUAGES = {"python", "text", "console", "ini", "nginx", "html", *PARSERS}


def pages_with(language: str) -> list[Path]:
    return [
        page
        for page in PAGES
        if page_name(page) not in FOLLOWED_TO_THE_LETTER and any(block.language == language for block in blocks(page))
    ]


@pytest.fixture
def namespace() -> Iterator[ModuleType]:
    """A module that is importable while its page runs, so that type hints in it can be resolved.

    The reader's own models, `shop.models`, are those of the store.
    """
    module = ModuleType("docs_page")
    with pytest.MonkeyPatch.context() as patch, isolated_namespaces(empty=False):
        for name, stand_in in ((module.__name__, module), ("shop", ModuleType("shop")), ("shop.models", models)):
            patch.setitem(sys.modules, name, stand_in)
        yield module


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("page", pages_with("python"), ids=page_name)
def test_python_blocks_run(page: Path, namespace: ModuleType) -> None:
    printed = io.StringIO()
    for block in blocks(page):
        if block.language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                run(block, namespace)
        elif block.title == PRINTS:
            assert printed.getvalue().rstrip() == block.text.rstrip(), block.place


def run(block: Block, namespace: ModuleType) -> None:
    """Execute a block so that tracebacks name the page and its line."""
    code = compile("\n" * (block.line - 1) + block.text, block.page, "exec")
    exec(code, vars(namespace))


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_blocks_say_what_they_are(page: Path) -> None:
    assert [block.place for block in blocks(page) if block.language not in LANGUAGES] == []


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_data_blocks_parse(page: Path) -> None:
    for block in blocks(page):
        if parse := PARSERS.get(block.language):
            parse(block.text)


@pytest.mark.parametrize("page", pages_with("console"), ids=page_name)
def test_commands_exist(page: Path) -> None:
    problems = [
        f"{block.place}: {line}: {problem}"
        for block in blocks(page)
        if block.language == "console"
        for line in commands(block)
        if (problem := problem_of(line))
    ]

    assert problems == []


def commands(block: Block) -> list[str]:
    """The lines that a reader types: those after a prompt, with their continuations."""
    joined = block.text.replace("\\\n", " ")
    return [line.removeprefix("$ ") for line in joined.splitlines() if line.startswith("$ ")]
