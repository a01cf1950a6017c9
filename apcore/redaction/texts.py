"""Credentials inside of texts: what looks like one is hidden, whoever wrote it there."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from apcore.redaction.keys import DEFAULT_SENSITIVE_KEYS
from apcore.schema import REDACTED_VALUE

_HINT: Final = re.compile(
    r"(?i)bearer|basic|://|eyJ|-----BEGIN|sk-|sk_|gh[opsur]_|github_pat_|xox[abpsr]-|AKIA|ASIA|[?&]|glpat-|AIza"
)
"""Texts without any of these hold no credential of a known form, and most texts have none."""

_CREDENTIALS: Final = (
    (re.compile(r"(?i)\b((?:bearer|basic)\s+)(?!\*)(?=\S{8})[A-Za-z0-9._~+/=-]+"), r"\1" + REDACTED_VALUE),
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^\s/?#]+@"), r"\1" + REDACTED_VALUE + "@"),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*"), REDACTED_VALUE),
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

_HEADER: Final = re.compile(
    r"(?i)\b((?:authorization|(?:set-)?cookie)[\"']?\s*[=:]\s*)(?:\"[^\"]*\"|'[^']*'|[^\r\n\"'}]+)"
)
_IN_QUERY: Final = r"(?i)([?&][^=&\s#]*?(?:{names})=)(?!\*)[^&\s#\"']+"
_ASSIGNED: Final = (
    r"(?i)(?<![A-Za-z0-9_-])([A-Za-z0-9_-]*(?:{names})[\"']?\s*[=:]\s*)"
    r"(?!\s|[\"']?\*\*\*)(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^\s,;&)\]}}\"']+)"
)


def hide_credentials(text: str, keys: Collection[str] = DEFAULT_SENSITIVE_KEYS) -> str:
    """The text without credentials that can be told by their form, and without secret parameters of URLs.

    A text that holds none comes back as the same object.
    """
    if _HINT.search(text) is None:
        return text
    hidden = text
    for pattern, replacement in _CREDENTIALS:
        hidden = pattern.sub(replacement, hidden)
    return _named(_IN_QUERY, frozenset(keys)).sub(r"\1" + REDACTED_VALUE, hidden) if "=" in hidden else hidden


def redact_text(text: str, keys: Collection[str] = DEFAULT_SENSITIVE_KEYS) -> str:
    """As ``hide_credentials``, and without what a sensitive name is set to: ``password=…``, ``"token": "…"``.

    For messages of logs. In data it would also hide harmless prose, such as "password: at least 8 characters".
    """
    if "=" not in text and ":" not in text:
        return hide_credentials(text, keys)
    hidden = _HEADER.sub(r"\1" + REDACTED_VALUE, hide_credentials(text, keys))
    return _named(_ASSIGNED, frozenset(keys)).sub(r"\1" + REDACTED_VALUE, hidden)


@lru_cache(maxsize=32)
def _named(pattern: str, keys: frozenset[str]) -> re.Pattern[str]:
    names = "|".join(re.escape(key).replace("_", "[_-]?") for key in sorted(keys, key=lambda key: (-len(key), key)))
    return re.compile(pattern.format(names=names or "(?!)"))
