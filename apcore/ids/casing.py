"""The letter cases that languages use for names (§2.1.1, §2.2, §2.3)."""

from __future__ import annotations

import re
from typing import Final

# "HTTPSender" falls apart before "Sender", "MathOps" before "Ops"; digits stay with the word before them.
_WORD_BOUNDARY: Final = re.compile(r"(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z0-9])(?=[A-Z])")
_NOT_A_WORD: Final = re.compile(r"[^A-Za-z0-9]+")


def snake_case(name: str) -> str:
    """``MathOps`` gives ``math_ops``, ``HTTPSender`` gives ``http_sender``; other characters become ``_`` (§2.1.1)."""
    return _NOT_A_WORD.sub("_", _WORD_BOUNDARY.sub("_", name)).strip("_").lower()


def pascal_case(name: str) -> str:
    """``http_json_parser`` gives ``HttpJsonParser``: abbreviations are ordinary words (§2.3)."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def camel_case(name: str) -> str:
    """``db_params`` gives ``dbParams``."""
    pascal = pascal_case(name)
    return pascal[:1].lower() + pascal[1:]


def as_written(name: str) -> str:
    """The name itself, for languages that write files in snake_case."""
    return name
