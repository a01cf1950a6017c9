"""The quick start, followed to the letter in an empty folder: its files are written, its commands are run."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import dropwhile, pairwise
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, Block, blocks
from tests.docs.test_snippets import PRINTS, commands

PAGE = ROOT / "docs" / "quickstart.md"
FIRST_COMMAND = "pip install"
AT_THE_END = ", at the end"
SECOND_TERMINAL = "in a second terminal"
PATIENCE_SECONDS = 60


@dataclass
class Reader:
    """Somebody who copies every block of the page, in order."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("DJANGO_", "APCORE_"))}
        return {**inherited, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **self.variables}

    def write(self, title: str, text: str) -> None:
        name = title.removesuffix(AT_THE_END)
        with (self.folder / name).open("a" if name != title else "w", encoding="utf-8") as file:
            file.write(text)

    def type(self, command: str) -> str:
        if command.startswith(FIRST_COMMAND):
            return ""  # it is installed
        if "$REQUEST" in command:
            self._look_up_the_request()
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def _look_up_the_request(self) -> None:
        """What a reader copies from the output above."""
        columns = self.type("python manage.py apcore approvals list").splitlines()[1].split()
        shown = self.type(f"python manage.py apcore approvals show {columns[0]}").splitlines()
        digest = next(line.split()[1] for line in shown if line.startswith("effect_digest"))
        self.variables = {"REQUEST": columns[0], "DIGEST": digest}

    @contextmanager
    def second_terminal(self, command: str) -> Iterator[None]:
        log = (self.folder / "second-terminal.log").open("w", encoding="utf-8")
        with (
            log,
            subprocess.Popen(
                ["/bin/sh", "-c", f"exec {command}"], cwd=self.folder, env=self.environment, stdout=log, stderr=log
            ) as process,
        ):
            try:
                yield
            finally:
                process.terminate()


@pytest.mark.demo
def test_the_quick_start_works(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    own_project = list(dropwhile(lambda block: FIRST_COMMAND not in block.text, blocks(PAGE)))
    worker = next(block for block in own_project if block.title == SECOND_TERMINAL)
    before, after = own_project[: own_project.index(worker)], own_project[own_project.index(worker) + 1 :]

    follow(reader, before)
    with reader.second_terminal(commands(worker)[0]):
        follow(reader, after)


def follow(reader: Reader, page: list[Block]) -> None:
    for block, following in pairwise([*page, None]):
        if block is None or block.title == PRINTS:
            continue
        if block.title:
            reader.write(block.title, block.text)
            continue
        expected = following.text.split("\n") if following is not None and following.title == PRINTS else []
        for command in commands(block):
            see(reader, command, [line.strip(" …") for line in expected])


def see(reader: Reader, command: str, expected: list[str]) -> None:
    """Type a command until it prints what the page says, as a reader does who waits for the worker."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    output = reader.type(command)
    while missing := [line for line in expected if line not in output]:
        assert time.monotonic() < deadline, f"{command}\n{missing} is not in\n{output}"
        time.sleep(1)
        output = reader.type(command)
