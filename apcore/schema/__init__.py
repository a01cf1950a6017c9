"""Schemas: documents, validation, inference from functions, canonical JSON (§4, §5.11)."""

from apcore.schema.canonical import canonical_json, content_hash
from apcore.schema.coercion import SchemaValidator, coerce_types
from apcore.schema.deprecation import DeprecatedField, deprecated_fields
from apcore.schema.documents import schema_document
from apcore.schema.evolution import BreakingChange, breaking_changes, is_backward_compatible
from apcore.schema.extensions import prefer_llm_descriptions, strip_extensions
from apcore.schema.files import read_schema_file
from apcore.schema.hints import read_docstring
from apcore.schema.infer import FunctionSchema, generate_schema_from_function, spoken
from apcore.schema.kinds import kind_of
from apcore.schema.loader import ModuleSchema, SchemaLoader, Strategy
from apcore.schema.migration import (
    MigrationStep,
    add_field,
    change_type,
    migrate_schema,
    remove_field,
    rename_field,
)
from apcore.schema.packed import PackedSchema, pack_schema, unpack_schema
from apcore.schema.plain_types import UNRESOLVED
from apcore.schema.refs import MAX_REF_DEPTH, pointer_to, resolve_pointer
from apcore.schema.resolution import resolve_ref
from apcore.schema.sensitive import REDACTED_VALUE, SensitiveMask, mask_sensitive
from apcore.schema.strict import express_nullable, to_strict_schema
from apcore.schema.validate import CompiledSchema, check_schema, compile_schema
from apcore.schema.yaml_text import read_yaml, yaml_fault

__all__ = [
    "MAX_REF_DEPTH",
    "REDACTED_VALUE",
    "UNRESOLVED",
    "BreakingChange",
    "CompiledSchema",
    "DeprecatedField",
    "FunctionSchema",
    "MigrationStep",
    "ModuleSchema",
    "PackedSchema",
    "SchemaLoader",
    "SchemaValidator",
    "SensitiveMask",
    "Strategy",
    "add_field",
    "breaking_changes",
    "canonical_json",
    "change_type",
    "check_schema",
    "coerce_types",
    "compile_schema",
    "content_hash",
    "deprecated_fields",
    "express_nullable",
    "generate_schema_from_function",
    "is_backward_compatible",
    "kind_of",
    "mask_sensitive",
    "migrate_schema",
    "pack_schema",
    "pointer_to",
    "prefer_llm_descriptions",
    "read_docstring",
    "read_schema_file",
    "read_yaml",
    "remove_field",
    "rename_field",
    "resolve_pointer",
    "resolve_ref",
    "schema_document",
    "spoken",
    "strip_extensions",
    "to_strict_schema",
    "unpack_schema",
    "yaml_fault",
]
