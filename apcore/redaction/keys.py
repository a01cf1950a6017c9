"""Names that mean a secret."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any, Final

DEFAULT_SENSITIVE_KEYS: Final[frozenset[str]] = frozenset(
    {
        "access_key",
        "api_key",
        "authorization",
        "cookie",
        "credentials",
        "passphrase",
        "passwd",
        "password",
        "private_key",
        "pwd",
        "secret",
        "secret_key",
        "session_id",
        "token",
    }
)

_USUAL_LENGTH: Final = 200
_CAMEL_CASE: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def is_sensitive_key(key: str, keys: Collection[str] = DEFAULT_SENSITIVE_KEYS) -> bool:
    """Whether a name means a secret: it is one of ``keys``, or ends in one as a word of its own.

    Letter case, ``-`` and camel case make no difference, and of a dotted path the last part counts: ``db.userPassword``
    and ``X-Api-Key`` are sensitive, ``max_tokens`` is not.
    """
    return means_secret(key, frozenset(keys))


def is_sensitive_path(path: str, keys: Collection[str] = DEFAULT_SENSITIVE_KEYS) -> bool:
    """Whether a dotted path leads to a secret: any part of it means one, or all of it does.

    ``db.password`` and ``secret.parts.first`` do, and so does ``api.key``: a variable API_KEY, parted in the middle of
    its name. A text with blanks is no path; of it the last part counts.
    """
    known = frozenset(keys)
    if " " in path or "." not in path:
        return means_secret(path, known)
    return any(means_secret(each, known) for each in (*path.split("."), path.replace(".", "_")))


def means_secret(key: Any, keys: frozenset[str]) -> bool:
    """As ``is_sensitive_key``, of any object; remembered for names of a usual length, since callers choose them."""
    if isinstance(key, str):
        return _means_secret(key, keys) if len(key) < _USUAL_LENGTH else _means_secret.__wrapped__(key, keys)
    return isinstance(key, bytes) and means_secret(key.decode("latin-1"), keys)


@lru_cache(maxsize=4096)
def _means_secret(key: str, keys: frozenset[str]) -> bool:
    words = _CAMEL_CASE.sub("_", key.rpartition(".")[2]).replace("-", "_").replace(" ", "_").lower()
    return any(words == known or words.endswith(f"_{known}") for known in map(str.lower, keys))
