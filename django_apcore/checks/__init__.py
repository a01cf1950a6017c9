"""System checks: what is misconfigured, which definitions of modules are refused, and which are doubtful."""

from django_apcore.checks.configuration import (
    check_acl,
    check_acl_rows,
    check_celery,
    check_config,
    check_database,
    check_encryption,
    check_encryption_keys,
    check_handler,
    check_keys,
    check_middleware,
    check_paths,
)
from django_apcore.checks.definitions import check_definitions
from django_apcore.checks.endpoints import check_description, check_endpoints
from django_apcore.checks.refusals import check_admission, refusals

__all__ = [
    "check_acl",
    "check_acl_rows",
    "check_admission",
    "check_celery",
    "check_config",
    "check_database",
    "check_definitions",
    "check_description",
    "check_encryption",
    "check_encryption_keys",
    "check_endpoints",
    "check_handler",
    "check_keys",
    "check_middleware",
    "check_paths",
    "refusals",
]
