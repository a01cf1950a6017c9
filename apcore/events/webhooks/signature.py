"""Signed deliveries: what the sender writes and the receiver checks."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping
from time import time
from typing import Final

SIGNATURE_HEADER: Final = "Apcore-Signature"
"""``t=<Unix seconds>,v1=<hexadecimal HMAC-SHA256 of "t.body">``."""

EVENT_ID_HEADER: Final = "Apcore-Event-Id"
"""The same at every delivery of one event: a receiver acts on each ID once."""

TOLERANCE_SECONDS: Final = 300

_FORM: Final = re.compile(r"t=(\d{1,12}),v1=([0-9a-f]{64})")


def sign(secret: str, body: bytes, timestamp: int) -> str:
    """The value of the signature header for a body that is sent at ``timestamp``, in Unix seconds."""
    return f"t={timestamp},v1={_digest(secret, body, timestamp)}"


def is_authentic(
    secrets: str | Iterable[str],
    body: bytes,
    headers: Mapping[str, str],
    *,
    now: float | None = None,
    tolerance: float = TOLERANCE_SECONDS,
) -> bool:
    """Whether a delivery was signed with one of the secrets within ``tolerance`` seconds of now; constant time.

    For receivers. ``body`` is what came over the wire, before anything parses it; the letter case of header names makes
    no difference. Give the old and the new secret while you change them.
    """
    value = next((each for name, each in headers.items() if name.lower() == SIGNATURE_HEADER.lower()), "")
    match = _FORM.fullmatch(value)
    if match is None:
        return False
    timestamp, digest = int(match[1]), match[2]
    known = [secrets] if isinstance(secrets, str) else list(secrets)
    fits = [hmac.compare_digest(digest, _digest(secret, body, timestamp)) for secret in known if secret]
    return any(fits) and abs((time() if now is None else now) - timestamp) <= tolerance


def _digest(secret: str, body: bytes, timestamp: int) -> str:
    return hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
