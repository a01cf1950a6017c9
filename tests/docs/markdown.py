"""Reads the code blocks of a page."""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])

_FENCE = re.compile(r"^(?P<indent> *)```(?P<info>.*)$")
_TITLE = re.compile(r'title="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; `line` is the line of the page where its text begins."""

    page: str
    line: int
    language: str
    title: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def page_name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def blocks(file: Path) -> Iterator[Block]:
    """The blocks of a page in order. Raises ValueError for a block that is never closed."""
    lines = iter(enumerate(file.read_text(encoding="utf-8").splitlines(), start=1))
    for number, line in lines:
        if opening := _FENCE.match(line):
            info = opening["info"].strip()
            body = _until_closed(lines, f"{page_name(file)}:{number}")
            title = _TITLE.search(info)
            yield Block(
                page=page_name(file),
                line=number + 1,
                language=info.split(" ")[0],
                title=title[1] if title else "",
                text=textwrap.dedent("\n".join(body)) + "\n",
            )


def _until_closed(lines: Iterator[tuple[int, str]], place: str) -> list[str]:
    body: list[str] = []
    for _, line in lines:
        if line.strip() == "```":
            return body
        body.append(line)
    raise ValueError(f"{place}: the block is not closed")
