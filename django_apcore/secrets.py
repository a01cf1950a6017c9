"""Encryption of what must be stored to resume a call, and digests that only this project can compute."""

import base64
import hashlib
import hmac
import json
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from apcore.schema import canonical_json
from django_apcore.conf import get_settings
from django_apcore.exceptions import UndecryptableError


def encrypt(value: Any) -> str:
    """Encrypt any JSON value with the newest key."""
    return _fernet().encrypt(to_bytes(value)).decode("ascii")


def decrypt(text: str) -> Any:
    """Return the JSON value that `encrypt` was given. Raises UndecryptableError if no configured key fits."""
    try:
        plain = _fernet().decrypt(text.encode("ascii"))
    except (InvalidToken, UnicodeEncodeError) as error:
        raise UndecryptableError("Stored data cannot be decrypted with the configured keys.") from error
    return json.loads(plain)


def rotate(text: str) -> str:
    """Encrypt again with the newest key. Raises UndecryptableError if no configured key fits."""
    try:
        return _fernet().rotate(text.encode("ascii")).decode("ascii")
    except (InvalidToken, UnicodeEncodeError) as error:
        raise UndecryptableError("Stored data cannot be decrypted with the configured keys.") from error


def keyed_digest(purpose: str, data: bytes) -> str:
    """Return a hexadecimal HMAC-SHA256 of `data`. Digests for different purposes cannot be compared."""
    return _digest(settings.SECRET_KEY, purpose, data)


def digest_matches(digest: str, purpose: str, data: bytes) -> bool:
    """Whether `digest` is the keyed digest of `data`, under the current or a former SECRET_KEY; constant time."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    matches = [hmac.compare_digest(digest, _digest(key, purpose, data)) for key in keys]
    return any(matches)


def to_bytes(value: Any) -> bytes:
    """Return the canonical JSON of a value as bytes, for digests."""
    return canonical_json(value).encode("utf-8", "surrogatepass")


def _fernet() -> MultiFernet:
    configured = get_settings().encryption_keys
    if configured:
        return MultiFernet([Fernet(key) for key in configured])
    return MultiFernet([Fernet(_derived(key)) for key in [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]])


def _derived(secret: str | bytes) -> bytes:
    key = hmac.digest(_as_bytes(secret), b"django_apcore.encryption", hashlib.sha256)
    return base64.urlsafe_b64encode(key)


def _digest(secret: str | bytes, purpose: str, data: bytes) -> str:
    key = hmac.digest(_as_bytes(secret), f"django_apcore.digest.{purpose}".encode(), hashlib.sha256)
    return hmac.new(key, data, hashlib.sha256).hexdigest()


def _as_bytes(secret: str | bytes) -> bytes:
    return secret.encode() if isinstance(secret, str) else secret
