"""Schemas: documents, validation, inference from functions, canonical JSON (§4, §5.11)."""

from apcore.schema.canonical import canonical_json, content_hash

__all__ = ["canonical_json", "content_hash"]
