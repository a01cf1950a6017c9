"""What a docstring says about a function and its parameters (§4.8.4, §5.11.7)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

_GOOGLE_HEADING: Final = re.compile(r"(Args|Arguments|Parameters):\s*")
_NUMPY_HEADING: Final = re.compile(r"(Other )?Parameters\s*")
_UNDERLINE: Final = re.compile(r"-{3,}\s*")

_GOOGLE_ENTRY: Final = re.compile(r"\*{0,2}(?P<name>\w+)\s*(\([^)]*\))?\s*:\s*(?P<text>.*)")
_NUMPY_ENTRY: Final = re.compile(r"\*{0,2}(?P<name>\w+)\s*(:.*)?(?P<text>)")
_SPHINX_ENTRY: Final = re.compile(r":param\s+([^:\s]+\s+)?\*{0,2}(?P<name>\w+)\s*:\s*(?P<text>.*)")


@dataclass(frozen=True, slots=True)
class Docstring:
    """The first line, the rest, and the text of each parameter."""

    summary: str = ""
    body: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def parse_docstring(text: str | None) -> Docstring:
    """Reads parameter texts in the conventions of Google, NumPy and Sphinx."""
    if not text or not text.strip():
        return Docstring()
    summary, *rest = inspect.cleandoc(text).splitlines()
    parameters = (
        _entries(rest, _SPHINX_ENTRY)
        | _entries(_numpy_section(rest), _NUMPY_ENTRY)
        | _entries(_google_section(rest), _GOOGLE_ENTRY)
    )
    return Docstring(summary.strip(), "\n".join(rest).strip(), parameters)


def _google_section(lines: Sequence[str]) -> list[str]:
    for index, line in enumerate(lines):
        if _GOOGLE_HEADING.fullmatch(line):
            return list(takewhile(lambda each: not each.strip() or each.startswith(" "), lines[index + 1 :]))
    return []


def _numpy_section(lines: Sequence[str]) -> list[str]:
    headings = [index for index in range(len(lines) - 1) if _UNDERLINE.fullmatch(lines[index + 1])]
    for index in headings:
        if _NUMPY_HEADING.fullmatch(lines[index]):
            end = min((other for other in headings if other > index), default=len(lines))
            return list(lines[index + 2 : end])
    return []


def _entries(lines: Sequence[str], entry: re.Pattern[str]) -> dict[str, str]:
    """Entries stand at the left edge of the section, the lines that continue them further right."""
    edge = min((_indent(line) for line in lines if line.strip()), default=0)
    texts: dict[str, list[str]] = {}
    current: list[str] = []
    for line in lines:
        found = entry.match(line.strip()) if _indent(line) == edge else None
        if found:
            current = texts.setdefault(found["name"], [])
            current.append(found["text"])
        elif _indent(line) > edge:
            current.append(line.strip())
        elif line.strip():
            current = []
    return {name: text for name, parts in texts.items() if (text := " ".join(filter(None, parts)))}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
