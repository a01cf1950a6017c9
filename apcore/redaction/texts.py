"""Credentials inside of texts: what looks like one is hidden, whoever wrote it there.

A caller chooses these texts, so no pattern may look at a character more than a few times: each begins with fixed
letters or where a word begins, and what may be long is taken whole or is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from apcore.redaction.keys import DEFAULT_SENSITIVE_KEYS
from apcore.schema import REDACTED_VALUE

_HINT: Final = re.compile(
    r"(?i)bearer|basic|://|eyJ|-----BEGIN|sk-|sk_|gh[opsur]_|github_pat_|xox[abpsr]-|AKIA|ASIA|glpat-|AIza"
)
"""Texts without any of these hold no credential of a known form, and most texts have none."""
_QUOTED_NAME: Final = re.compile(r"[\"']\s*:")

_CREDENTIALS: Final = (
    (re.compile(r"(?i)\b((?:bearer|basic)\s++)(?!\*)(?=\S{8})[A-Za-z0-9._~+/=-]+"), r"\1" + REDACTED_VALUE),
    (
        # The second form is a password with a / in it that nobody encoded; a port is none.
        re.compile(r"(://)(?:[^\s/?#]+@|[^\s/?#@:\[]{0,99}:(?!\d{1,5}[/?#])[^\s@]{0,99}@)"),
        r"\1" + REDACTED_VALUE + "@",
    ),
    (
        re.compile(
            r"(?<![A-Za-z0-9_-])(?>([A-Za-z0-9_-]*?-)??eyJ)[A-Za-z0-9_-]{5,}+\.[A-Za-z0-9_-]{5,}+\.[A-Za-z0-9_-]*+"
        ),
        r"\1" + REDACTED_VALUE,
    ),
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S), REDACTED_VALUE),
    (
        re.compile(
            r"\b(?:sk-[A-Za-z0-9_-]{16,}|sk_(?:live|test)_[A-Za-z0-9]{10,}|gh[opsur]_[A-Za-z0-9]{20,}"
            r"|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[abpsr]-[A-Za-z0-9-]{10,}"
            r"|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,})"
        ),
        REDACTED_VALUE,
    ),
)
"""Authorization headers, credentials in URLs, JSON Web Tokens, private keys, tokens that providers mark as such."""

_HIDDEN: Final = r"(?!\\*[\"']?\*\*\*REDACTED\*\*\*)"
_QUOTED: Final = r"\"(?:[^\"\\]|\\.?)*+(?:\"|\Z)|'(?:[^'\\]|\\.?)*+(?:'|\Z)"
"""A text in quotes, which may be cut off."""
_COLLECTION: Final = r"[\[({{][^\r\n]*+"
"""Of a list or an object the rest of the line: where it ends, no pattern can tell."""


def _set_to(before: str, end: str) -> str:
    """A sensitive name and what follows it; without quotes that goes on until a blank or one of ``end``."""
    bare = rf"[^\s\"'{end}]"
    value = rf"{_COLLECTION}|{_QUOTED}|{bare}++(?:{_QUOTED}|{bare})*+"
    return rf"(?is)({before}){_HIDDEN}(?:{value})"


_ASSIGNED_IN_DATA: Final = (_set_to("(?:{names})=", "&"), _set_to(r"(?:{names})\\*[\"']\s*:\s*+", r",}}\]"))
"""``password=…`` and ``"password": …``, which no prose holds."""
_ASSIGNED: Final = _set_to(r"(?:{names})\\*[\"']?\s*[=:]\s*+", r",;&)}}\]")
_OPTION: Final = _set_to(r"(?<![\w-])--[\w-]{{0,40}}?(?:{names})\s++(?!-)", "")
"""``--password …`` of a command line."""
_HEADER: Final = re.compile(
    rf"(?is)\b((?:authorization|(?:set-)?cookie)\\*[\"']?\s*[=:]\s*+){_HIDDEN}(?:{_QUOTED}|[^\r\n\"'][^\r\n]*+)"
)


def hide_credentials(text: str, keys: Collection[str] = DEFAULT_SENSITIVE_KEYS) -> str:
    """The text without credentials that can be told by their form, and without what ``password=…`` or
    ``"password": …`` sets a sensitive name to.

    A text that holds none comes back as the same object.
    """
    hidden = text
    if _HINT.search(text) is not None:
        for form, replacement in _CREDENTIALS:
            hidden = form.sub(replacement, hidden)
    if "=" in hidden or _QUOTED_NAME.search(hidden) is not None:
        for pattern in _ASSIGNED_IN_DATA:
            hidden = _hide_named(pattern, hidden, keys)
    return hidden


def redact_text(text: str, keys: Collection[str] = DEFAULT_SENSITIVE_KEYS) -> str:
    """As ``hide_credentials``, and without whatever else follows a sensitive name: ``password: …``, ``--token …``.

    For messages of logs. In data it would also hide harmless prose, such as "password: at least 8 characters".
    """
    hidden = hide_credentials(text, keys)
    if "=" in hidden or ":" in hidden:
        hidden = _hide_named(_ASSIGNED, _HEADER.sub(r"\1" + REDACTED_VALUE, hidden), keys)
    return _hide_named(_OPTION, hidden, keys) if "--" in hidden else hidden


def _hide_named(pattern: str, text: str, keys: Collection[str]) -> str:
    known = frozenset(keys)
    small = text.lower()
    if not any(stem in small for stem in _stems(known)):
        return text
    return _named(pattern, known).sub(r"\1" + REDACTED_VALUE, text)


@lru_cache(maxsize=32)
def _stems(keys: frozenset[str]) -> tuple[str, ...]:
    """Parts of which one is in every text that holds a name; looking for them costs next to nothing."""
    return tuple({max(key.lower().split("_"), key=len) for key in keys})


@lru_cache(maxsize=32)
def _named(pattern: str, keys: frozenset[str]) -> re.Pattern[str]:
    names = "|".join(re.escape(key).replace("_", "[_-]?") for key in sorted(keys, key=lambda key: (-len(key), key)))
    return re.compile(pattern.format(names=names or "(?!)"))
