"""What a docstring says about a function and its parameters (§4.8.4, §5.11.7)."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Final

import docstring_parser
from docstring_parser import DocstringStyle, ParseError

# What tells the styles apart; asking the library to try all of them takes several times as long.
_MARKS: Final = {":param": DocstringStyle.REST, "@param": DocstringStyle.EPYDOC, "\n---": DocstringStyle.NUMPYDOC}


@dataclass(frozen=True, slots=True)
class Docstring:
    """The first line, the rest, and the text of each parameter."""

    summary: str = ""
    body: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def parse_docstring(text: str | None) -> Docstring:
    """Reads parameter texts in the conventions of Google, NumPy, Sphinx and Epydoc."""
    if not text or not text.strip():
        return Docstring()
    text = inspect.cleandoc(text)
    summary, _, body = text.partition("\n")
    return Docstring(summary.strip(), body.strip(), _parameters(text) if body else {})


def _parameters(text: str) -> dict[str, str]:
    style = next((style for mark, style in _MARKS.items() if mark in text), DocstringStyle.GOOGLE)
    try:
        described = docstring_parser.parse(text, style).params
    except ParseError:  # half a section is prose
        return {}
    return {
        name.strip().lstrip("*"): " ".join(each.description.split())
        for each in described
        if each.description
        for name in each.arg_name.split(",")
    }
