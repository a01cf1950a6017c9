"""Hiding sensitive values before anything is shown, logged or stored (§10.6)."""

from apcore.redaction.data import redact, redact_sensitive
from apcore.redaction.keys import DEFAULT_SENSITIVE_KEYS, is_sensitive_key, is_sensitive_path
from apcore.redaction.texts import hide_credentials, redact_text
from apcore.redaction.values import NO_SECRETS, SensitiveValues
from apcore.schema import REDACTED_VALUE

__all__ = [
    "DEFAULT_SENSITIVE_KEYS",
    "NO_SECRETS",
    "REDACTED_VALUE",
    "SensitiveValues",
    "hide_credentials",
    "is_sensitive_key",
    "is_sensitive_path",
    "redact",
    "redact_sensitive",
    "redact_text",
]
