"""Schemas: documents, validation, inference from functions, canonical JSON (§4, §5.11)."""

from apcore.schema.canonical import canonical_json, content_hash
from apcore.schema.documents import schema_document
from apcore.schema.infer import FunctionSchema, infer_function
from apcore.schema.refs import MAX_REF_DEPTH, pointer_to, resolve_pointer
from apcore.schema.sensitive import REDACTED_VALUE, SensitiveMask, mask_sensitive
from apcore.schema.validate import CompiledSchema, check_schema, compile_schema
from apcore.schema.violations import kind_of

__all__ = [
    "MAX_REF_DEPTH",
    "REDACTED_VALUE",
    "CompiledSchema",
    "FunctionSchema",
    "SensitiveMask",
    "canonical_json",
    "check_schema",
    "compile_schema",
    "content_hash",
    "infer_function",
    "kind_of",
    "mask_sensitive",
    "pointer_to",
    "resolve_pointer",
    "schema_document",
]
