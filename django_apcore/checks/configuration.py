"""Misconfiguration as system-check messages, with hints."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from celery import current_app
from cryptography.fernet import Fernet
from django import db
from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.exceptions import ImproperlyConfigured
from django.db import connections, router

from apcore.acl import ACL
from apcore.errors import ConfigError, ModuleError
from apcore.extensions import load_extensions
from django_apcore import runtime
from django_apcore.conf import (
    ApcoreSettings,
    acl_conditions,
    get_settings,
    imported,
    load_config,
    middleware_settings,
    unknown_keys,
)
from django_apcore.configuration import SETTINGS
from django_apcore.models import ACLRule, ApprovalRequest

Configs = Sequence[AppConfig] | None
Check = Callable[[ApcoreSettings], list[CheckMessage]]


@register("apcore")
def check_keys(app_configs: Configs, **kwargs: Any) -> list[CheckMessage]:
    """E001: every key of APCORE means something. E002: its values have the right types."""
    try:
        unknown = unknown_keys()
        load_config()
        get_settings()
    except ImproperlyConfigured as error:
        return [Error(str(error), id="django_apcore.E002")]
    except ModuleError:
        pass  # said by check_config
    return [
        Error(
            f"APCORE[{key!r}] is not a setting of django_apcore.",
            hint=f"Did you mean {closest!r}?"
            if closest
            else "The keys are those of django_apcore.conf.ApcoreSettings.",
            id="django_apcore.E001",
        )
        for key, closest in unknown
    ]


@register("apcore")
def check_config(app_configs: Configs, **kwargs: Any) -> list[CheckMessage]:
    """E006: the configuration can be read and is valid. W008: all its keys mean something."""
    try:
        config = load_config()
    except ImproperlyConfigured:
        return []  # said by check_keys
    except ModuleError as error:
        return [_refused(each, error) for each in error.details.get("errors") or [{"message": error.message}]]
    return [
        checks.Warning(
            f"The configuration has a key that nothing reads: {doubt}.",
            hint=f"It stands in {config.file or 'the environment'}.",
            id="django_apcore.W008",
        )
        for doubt in config.doubts()
    ]


def with_settings(check: Check) -> Callable[..., list[CheckMessage]]:
    """Leave unreadable settings to `check_keys`, so that one mistake is reported once."""

    def checked(app_configs: Configs, **kwargs: Any) -> list[CheckMessage]:
        try:
            return check(get_settings())
        except ImproperlyConfigured:
            return []

    return checked


@register("apcore")
@with_settings
def check_paths(conf: ApcoreSettings) -> list[CheckMessage]:
    """E003: what the settings name can be imported."""
    named = [conf.context_factory, *conf.rewriters, *(conf.acl_conditions or {}).values()]
    if conf.approval_handler is not None:
        named.append(conf.approval_handler)
    return [found for path in named for found in _check_path(path)]


@register("apcore")
@with_settings
def check_middleware(conf: ApcoreSettings) -> list[CheckMessage]:
    """E016: middleware and extensions can be made, and what is disabled is something that is on by default."""
    hint = (
        "An entry is a dotted path, or {'id': …, 'class': …, 'priority': 0 to 1000, 'config': {…}}; "
        "schema_validation and acl_check are pipeline steps and cannot be switched off."
    )
    try:
        middleware_settings()
        load_extensions(conf.extensions)
    except ConfigError as error:
        texts = error.details.get("errors") or [error.message]
        return [Error(text, hint=hint, id="django_apcore.E016") for text in texts]
    return []


@register("apcore")
@with_settings
def check_handler(conf: ApcoreSettings) -> list[CheckMessage]:
    """E004: modules that require an approval have somebody to ask."""
    if conf.approval_handler is not None:
        return []
    registry = runtime.get_registry()
    asking = [name for name in registry.list(include_hidden=True) if registry.get_definition(name).requires_approval]
    if not asking:
        return []
    return [
        Error(
            f"No approval handler is configured, so what needs an approval would run without one: {', '.join(asking)}.",
            hint="Remove APCORE['APPROVAL_HANDLER'] for the handler that stores requests in the database.",
            id="django_apcore.E004",
        )
    ]


@register("apcore")
@with_settings
def check_acl(conf: ApcoreSettings) -> list[CheckMessage]:
    """E005: the access list can be read."""
    return [] if conf.acl_file is None else _check_acl_file(conf.acl_file)


@register("apcore", Tags.database)
def check_acl_rows(app_configs: Configs, databases: Sequence[str] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """E005: the rules in the database are rules. Runs with `check --database`, and before `migrate`."""
    alias = router.db_for_read(ACLRule)
    if alias not in (databases or ()) or get_settings().acl_file is not None:
        return []
    try:
        rows = list(ACLRule.objects.using(alias).filter(enabled=True))
    except db.Error:
        return []  # not migrated yet
    return [found for row in rows for found in _check_rule(f"ACL rule {row.pk}", [row.to_dict()])]


@register("apcore", Tags.security, deploy=True)
@with_settings
def check_encryption(conf: ApcoreSettings) -> list[CheckMessage]:
    """W001: in production, what is stored encrypted has keys of its own."""
    if conf.encryption_keys or settings.DEBUG:
        return []
    return [
        checks.Warning(
            "Stored inputs and results are encrypted with keys derived from SECRET_KEY.",
            hint="Set APCORE['ENCRYPTION_KEYS'] to keys made by cryptography.fernet.Fernet.generate_key(), or keep "
            "former SECRET_KEYs in SECRET_KEY_FALLBACKS as long as requests are open.",
            id="django_apcore.W001",
        )
    ]


@register("apcore", Tags.security)
@with_settings
def check_encryption_keys(conf: ApcoreSettings) -> list[CheckMessage]:
    """E007: the encryption keys are Fernet keys."""
    bad = [number for number, key in enumerate(conf.encryption_keys, start=1) if not _is_fernet_key(key)]
    return [
        Error(
            f"Key {number} of APCORE['ENCRYPTION_KEYS'] is no Fernet key.",
            hint="Make one with cryptography.fernet.Fernet.generate_key().",
            id="django_apcore.E007",
        )
        for number in bad
    ]


@register("apcore")
def check_celery(app_configs: Configs, **kwargs: Any) -> list[CheckMessage]:
    """W002: work is done by workers. W003: the broker is one, and keeps its messages."""
    conf = current_app.conf
    found: list[CheckMessage] = []
    if conf.task_always_eager:
        found.append(
            checks.Warning(
                "Celery runs tasks eagerly: an approver's click would wait for the execution, in the web process.",
                hint="Run a worker; without a broker server Celery can use filesystem://localhost// or a database.",
                id="django_apcore.W002",
            )
        )
    elif not conf.broker_url or str(conf.broker_url).startswith("memory:"):
        found.append(
            checks.Warning(
                "Celery has no broker that outlives a process, so approved calls wait until a worker is started anew.",
                hint="Configure a broker, and import the Celery app in the __init__.py of your project.",
                id="django_apcore.W003",
            )
        )
    return found


@register("apcore")
def check_database(app_configs: Configs, **kwargs: Any) -> list[CheckMessage]:
    """W004, W005: SQLite is set up for several processes. W006: requests can be opened in views."""
    alias = router.db_for_write(ApprovalRequest)
    connection = connections[alias]
    found: list[CheckMessage] = []
    if connection.vendor == "sqlite":
        found += _check_sqlite(alias, connection.settings_dict)
    if connection.settings_dict.get("ATOMIC_REQUESTS"):
        found.append(
            checks.Warning(
                f"ATOMIC_REQUESTS is on for database {alias!r}: views cannot call modules that need an approval.",
                hint="Decorate such views with transaction.non_atomic_requests; the REST endpoints are.",
                id="django_apcore.W006",
            )
        )
    return found


def _refused(fault: Mapping[str, str], error: ModuleError) -> CheckMessage:
    """One error of the configuration, with where to mend it."""
    source, file = fault.get("source"), error.details.get("file")
    text = fault["message"] if source is None else f"{fault['message']} (from {source})"
    if source is not None and source.startswith("environment "):
        hint = f"Change or unset the environment variable {source.removeprefix('environment ')}."
    elif source == SETTINGS:
        hint = "Change it in APCORE, in Django's settings."
    elif file is not None and Path(file).exists():
        hint = f"Mend {file}; `manage.py apcore config check` says when it is right."
    else:
        hint = "The file is the one that APCORE['CONFIG_FILE'] or $APCORE_CONFIG_FILE names."
    return Error(f"The configuration is refused: {text}", hint=hint, id="django_apcore.E006")


def _check_path(path: str) -> list[CheckMessage]:
    try:
        imported(path)
    except ImproperlyConfigured as error:
        return [Error(str(error), id="django_apcore.E003")]
    return []


def _check_acl_file(path: str) -> list[CheckMessage]:
    try:
        ACL.load(path, conditions=acl_conditions())
    except (ModuleError, OSError) as error:
        hint = None if Path(path).exists() else "The path is relative to the working directory of the process."
        return [
            Error(f"The file that APCORE['ACL_FILE'] names is refused: {error}", hint=hint, id="django_apcore.E005")
        ]
    return []


def _check_rule(name: str, rules: list[dict[str, Any]]) -> list[CheckMessage]:
    try:
        ACL(rules, conditions=acl_conditions())
    except ModuleError as error:
        hint = "While it stands, every call is refused."
        return [Error(f"{name} is no rule: {error}", hint=hint, id="django_apcore.E005")]
    return []


def _check_sqlite(alias: str, options: dict[str, Any]) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    given = options.get("OPTIONS", {})
    if str(given.get("transaction_mode", "")).upper() not in ("IMMEDIATE", "EXCLUSIVE"):
        found.append(
            checks.Warning(
                f"SQLite database {alias!r} takes its write lock late: of two who decide at once, one fails.",
                hint="Set OPTIONS['transaction_mode'] = 'IMMEDIATE'.",
                id="django_apcore.W004",
            )
        )
    if "journal_mode=wal" not in str(given.get("init_command", "")).lower().replace(" ", ""):
        found.append(
            checks.Warning(
                f"SQLite database {alias!r} does not use a write-ahead log: readers and the writer block each other.",
                hint="Set OPTIONS['init_command'] = 'PRAGMA journal_mode=WAL;'.",
                id="django_apcore.W005",
            )
        )
    return found


def _is_fernet_key(key: str) -> bool:
    try:
        Fernet(key)
    except ValueError:
        return False
    return True
