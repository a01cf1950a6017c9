"""What the reference project reads from its environment, as values that Django's settings take."""

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"", "0", "false", "no", "off"})


def flag(name: str, default: bool = False) -> bool:
    """A yes/no variable; anything that is neither is refused, so that a typing error does not read as "no"."""
    value = os.environ.get(name)
    if value is None:
        return default
    word = value.strip().lower()
    if word not in _TRUE | _FALSE:
        raise ImproperlyConfigured(f"{name} must be one of 1, true, yes, on, 0, false, no, off; it is {value!r}")
    return word in _TRUE


def words(name: str, default: str = "") -> list[str]:
    """A comma-separated list, blanks removed."""
    return [word.strip() for word in os.environ.get(name, default).split(",") if word.strip()]


def database(url: str, default_file: Path) -> dict[str, Any]:
    """One entry of DATABASES from `postgresql://user:password@host:port/name` or `sqlite:///path`.

    An empty URL means SQLite in `default_file`, or PostgreSQL from the variables APCORE_DATABASE_NAME, _USER,
    _PASSWORD, _HOST and _PORT when the first of them is set.
    """
    if not url and os.environ.get("APCORE_DATABASE_NAME"):
        return _postgresql_from_parts(os.environ)
    if not url:
        return sqlite(default_file)
    parts = urlsplit(url)
    if parts.scheme in {"postgres", "postgresql"}:
        return postgresql(
            name=unquote(parts.path.removeprefix("/")),
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            host=unquote(parts.hostname or ""),
            port=str(parts.port or ""),
        )
    if parts.scheme == "sqlite":
        return sqlite(Path(unquote(parts.path.removeprefix("/"))))
    raise ImproperlyConfigured(f"Unknown database scheme {parts.scheme!r}: use postgresql:// or sqlite:///")


def sqlite(file: Path) -> dict[str, Any]:
    """SQLite as the embedded default: readers do not block (WAL); a writer takes its lock when it begins, not later."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(file),
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }


def postgresql(*, name: str, user: str, password: str, host: str, port: str) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": user,
        "PASSWORD": password,
        "HOST": host,
        "PORT": port,
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }


def _postgresql_from_parts(env: Mapping[str, str]) -> dict[str, Any]:
    part = {key: env.get(f"APCORE_DATABASE_{key.upper()}", "") for key in ("name", "user", "password", "host", "port")}
    return postgresql(**part)


def secret_key(file: Path) -> str:
    """SECRET_KEY from the environment, or one that is made once and kept in a file only its owner can read."""
    if key := os.environ.get("APCORE_SECRET_KEY"):
        return key
    if not file.exists():
        _write_once(file, secrets.token_urlsafe(64))
    return file.read_text(encoding="ascii").strip()


def _write_once(file: Path, text: str) -> None:
    """Two processes that start together agree on one key: the content appears whole, and the first one wins."""
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(text, encoding="ascii")
    with suppress(FileExistsError):
        file.hardlink_to(draft)
    draft.unlink()
