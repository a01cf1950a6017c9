"""Names that were published stay, until the next major version."""

import inspect
from pathlib import Path

import pytest

import apcore
from apcore import errors

PUBLISHED = (Path(__file__).parent / "public_names.txt").read_text(encoding="utf-8").split()


@pytest.mark.req("R-13.5-04", "R-13.2-01")
def test_no_published_name_is_gone():
    gone = [name for name in PUBLISHED if not hasattr(apcore, name) or name not in apcore.__all__]

    assert gone == [], "a published name leaves with a major version, after two minor ones in which it was deprecated"


def test_the_list_is_in_order_and_names_nothing_twice():
    assert sorted(set(PUBLISHED)) == PUBLISHED


@pytest.mark.req("R-8.7-04")
def test_every_error_of_the_protocol_can_be_imported_from_the_top():
    classes = [name for name in errors.__all__ if name.endswith("Error")]

    assert [name for name in classes if getattr(apcore, name, None) is not getattr(errors, name)] == []


ALGORITHMS = {
    "apply_namespace_env_overrides": "config_data registered_namespaces",
    "approval_gate": "module arguments context approval_handler",
    "auto_resolve": "suffix defaults_tree depth max_depth",
    "calculate_specificity": "pattern",
    "detect_config_mode": "parsed_yaml",
    "detect_error_code_collisions": "framework_codes module_codes_map",
    "detect_id_conflicts": "new_id existing_ids reserved_words",
    "directory_to_canonical_id": "file_path extensions_root",
    "discover_config_file": "",
    "dispatch_env_var": "env_key registered_prefixes",
    "enforce_timeout": "module_id inputs context timeout_ms",
    "evaluate_acl": "caller target rules default_effect context",
    "format_error": "error adapter_name context",
    "generate_schema_from_function": "callable",
    "load_extensions": "config extension_points",
    "match_pattern": "pattern module_id",
    "migrate_schema": "schema from_version to_version",
    "negotiate_version": "declared_version sdk_version",
    "normalize_to_canonical_id": "local_id language",
    "propagate_error": "error module_id context",
    "redact_sensitive": "data schema",
    "resolve_dependencies": "modules",
    "resolve_display": "modules bindings",  # as the design of this house has it; the protocol asks surface by surface
    "resolve_entry_point": "meta_yaml file_path language",
    "resolve_namespace_path": "dot_path mode known_namespaces",
    "resolve_ref": "ref_string current_file schemas_dir visited_refs",
    "resolve_target": "target_string",
    "safe_unregister": "module_id registry",
    "scan_extensions": "extensions_root config",
    "validate_config": "config",
    "validate_config_ns": "config_data mode registered_namespaces meta_config",
}
"""Every algorithm that the protocol writes out, with its parameters."""


@pytest.mark.parametrize(("name", "parameters"), ALGORITHMS.items())
def test_each_algorithm_is_a_public_function_of_its_name_and_parameters(name, parameters):
    given = list(inspect.signature(getattr(apcore, name)).parameters)

    assert given[: len(parameters.split())] == parameters.split()
