"""The `APCORE` setting as one typed object, read live and reset when a test overrides it."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from functools import cache
from types import UnionType
from typing import Any, Final, get_args, get_origin, get_type_hints

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.utils.module_loading import import_string

from apcore.config import Config
from apcore.errors import ModuleError
from apcore.middleware.configuration import MiddlewareSettings
from django_apcore.configuration import NAMESPACE, effective, load, origin_of, register_namespace

MOST_DAYS: Final = 36_500
"""The longest time that is given in days: a hundred years."""


@dataclass(frozen=True, slots=True)
class ApcoreSettings:
    """Every key that `APCORE` may hold, with its default. In Django settings the keys are upper case."""

    config_file: str | None = None
    """Path of the configuration file of apcore (§9.1), relative to `BASE_DIR`; `$APCORE_CONFIG_FILE` comes first."""
    auto_register_modules: bool = True
    """Register the modules of all installed apps when the process first needs them (§9.13.3)."""
    bindings_dir: str = "bindings"
    """The directory of an app that holds its binding files (§5.12.6)."""
    bindings_pattern: str = "*.binding.yaml"
    """Which files of that directory are binding files."""
    binding_files: tuple[str, ...] = ()
    """Paths of further binding files, those of the project. Where they present a module, they win over the apps."""
    convention_apps: tuple[str, ...] = ()
    """Labels of the apps whose plain functions in `commands/` are modules (§5.14). Empty: none."""
    conventions_dir: str = "commands"
    """The directory of such an app that holds these functions."""
    url_prefix: str = "/api/apcore"
    """Where `django_apcore.urls` mounts the REST endpoints (§9.13.3)."""
    approval_handler: str | None = "django_apcore.stores.DatabaseApprovalHandler"
    """Dotted path of the approval handler; None switches the approval gate off (§7.4)."""
    acl_file: str | None = None
    """Path of a YAML access list. Without it the rules are those of the database."""
    acl_default_effect: str = "deny"
    """What holds where no rule of the database matches: `deny` or `allow`."""
    acl_conditions: Mapping[str, str] | None = None
    """Conditions of the project's own for access rules: name → dotted path of a handler `(value, context) -> bool`."""
    middleware: tuple[str | Mapping[str, Any], ...] = ()
    """apcore middleware, outermost first: dotted paths, or entries with `id`, `class`, `priority`, `config` (§11.2)."""
    middleware_disabled: tuple[str, ...] = ()
    """IDs of middleware that is on by default and shall not be: `metrics`, `usage` … (§11.4)."""
    extensions: Mapping[str, Any] | None = None
    """What takes the place of the framework's own: extension point → dotted path, or a list of entries (§11.3)."""
    rewriters: tuple[str, ...] = ()
    """Dotted paths of input rewriters, in order."""
    context_factory: str = "django_apcore.context.DjangoContextFactory"
    """Dotted path of the class that turns an HTTP request into a context (§12.2)."""
    sys_modules: Mapping[str, Any] | None = None
    """The system modules, as in the section `sys_modules` of apcore.yaml (§9.15.3): `{"enabled": True}`. None: those
    that the configuration asks for, which by default are none."""
    executor: Mapping[str, Any] | None = None
    """Deadlines and depth limits of the executor, as in the `executor` section of apcore.yaml (§9.1)."""
    observability: Mapping[str, Any] | None = None
    """What is traced, counted and logged, as in the namespace `observability` of apcore.yaml (§9.15.2): for example
    `{"tracing": {"enabled": True, "strategy": "error_first"}, "metrics": {"enabled": True}}`."""
    metrics_token: str | None = None
    """A token that opens the metrics to whoever sends it as `Authorization: Bearer …`. None: nobody gets in so."""
    metrics_permission_classes: tuple[str, ...] = ("rest_framework.permissions.IsAdminUser",)
    """Dotted paths of the classes that admit somebody else to the metrics."""
    encryption_keys: tuple[str, ...] = ()
    """Fernet keys, newest first, for what is stored to resume a call. Empty: keys derived from SECRET_KEY."""
    sensitive_keys: tuple[str, ...] = ()
    """Names of inputs to redact wherever they occur, besides the built-in list (§10.6)."""
    sensitive_fields: tuple[str, ...] = ("auth.User.password",)
    """Model fields whose values are never shown in an effect, as `app.Model.field`."""
    volatile_fields: tuple[str, ...] = ()
    """Model fields that differ at every measurement, as `app.Model.field`; shown as not checked."""
    approval_expires_after: timedelta = timedelta(hours=24)
    """How long a request waits where no policy matches."""
    approval_retention_days: int | None = None
    """How many days after its end a request keeps inputs, listed changes and result. None: for ever."""
    outbox_retention_days: int | None = None
    """How many days a message of the outbox stays after it was delivered. None: for ever."""
    audit_archive_dir: str | None = None
    """Directory of the archives of the audit trail. None: nothing is archived or deleted by itself."""
    audit_segment_days: int = 30
    """How many days of the audit trail go into one archive."""
    audit_retention_days: int | None = None
    """How many days entries of the audit trail stay in the database once they are archived. None: for ever."""
    effect_listed: int = 10_000
    """How many changes of an effect are stored one by one; counts and digest always cover all."""
    lock_timeout_ms: int = 5_000
    """How long a measurement waits for rows that others have locked, in milliseconds (PostgreSQL)."""
    reachable_hosts: tuple[str, ...] = ()
    """Hosts that modules may connect to while they are measured, as `host` or `host:port`: what they do there is not
    watched, and every measured record says so."""
    refresh_seconds: float = 0.5
    """How old a snapshot of rules or toggles may become before its revision is looked up again, in seconds."""
    usage_flush_seconds: float = 5.0
    """How long counted calls and errors stay in memory before they are written, in seconds; a process that is killed
    loses them. 0: nothing is written by itself, as tests want it."""
    usage_retention_days: int = 400
    """How long usage is kept by the day, after `sys_modules.usage.retention_hours` by the hour; in days."""
    task_queue: str | None = None
    """The Celery queue for executions and asynchronous tasks. None: Celery's default queue."""
    invariants: str = "off"
    """Whether calls, approvals and tasks are watched for what cannot happen: `off`, `log`, or `raise`, for tests."""
    webhook_allow_private: bool = False
    """Whether webhooks may reach addresses that are not public: this machine, the own network, cloud metadata."""
    webhook_timeout_seconds: float = 10.0
    """How long one delivery to a webhook may take, in seconds."""
    webhook_attempts: int = 12
    """How often a delivery is tried, over about five hours, before it is given up."""
    api_authentication_classes: tuple[str, ...] = (
        "rest_framework.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    )
    """Dotted paths of the classes that recognise a REST caller. The first one decides how a 401 asks who is there."""
    api_permission_classes: tuple[str, ...] = ("rest_framework.permissions.IsAuthenticated",)
    """Dotted paths of the classes that admit a REST caller, before any access rule is asked."""
    api_docs_permission_classes: tuple[str, ...] = ("rest_framework.permissions.IsAuthenticated",)
    """The same for the OpenAPI document and its page."""
    api_max_body_bytes: int = 1_048_576
    """The largest request body that is read, in bytes."""
    api_max_json_depth: int = 64
    """How deep arrays and objects of a request body may be nested."""
    api_event_streams: int = 16
    """How many callers one process serves with `tasks/{id}/events/` at a time. Under WSGI each holds a thread."""
    api_event_stream_seconds: float = 300.0
    """After how many seconds such a stream ends; a client that still wants to know opens it again."""


_MORE_THAN_NONE: Final = {"webhook_timeout_seconds", "webhook_attempts"}
_LISTS = tuple(field.name for field in fields(ApcoreSettings) if field.type == tuple[str, ...])


def unknown_keys() -> list[tuple[str, str | None]]:
    """Return the keys of `APCORE` that mean nothing, each with the closest known key."""
    known = [field.name.upper() for field in fields(ApcoreSettings)]
    unknown = sorted(str(key) for key in _raw() if key not in known)
    return [(key, _closest(key, known)) for key in unknown]


@cache
def get_settings() -> ApcoreSettings:
    """Return the settings as they are now: `APCORE`, below the configuration file and the environment (§9.6.2).

    Raises ImproperlyConfigured for wrong types and for a configuration that is refused; checks find unknown keys.
    """
    try:
        config = load_config()
    except ModuleError as error:
        raise ImproperlyConfigured(error.message) from error
    values = effective(config, _given(), _TYPES)
    for name, value in values.items():
        _require_type(name, value, f"{NAMESPACE}.{name} ({origin_of(config, name)})")
    keys = config.namespace("observability")["redaction"]["sensitive_keys"]
    if config.is_set("observability.redaction.sensitive_keys"):
        values["sensitive_keys"] = tuple(dict.fromkeys((*values.get("sensitive_keys", ()), *keys)))
    return ApcoreSettings(**values)


def load_config() -> Config:
    """Return a new configuration, with `APCORE` below the file and the environment.

    Raises ConfigError, ConfigNotFoundError and VersionIncompatibleError; ImproperlyConfigured for wrong types.
    """
    register_bus_namespace()
    return load(_given())


def register_bus_namespace() -> None:
    """Register `django-apcore` with the Config Bus; a second time does nothing."""
    register_namespace({field.name: field.default for field in fields(ApcoreSettings)})


def _given() -> dict[str, Any]:
    """What `APCORE` holds, by field. Raises ImproperlyConfigured for wrong types."""
    raw = _raw()
    given = {field.name: raw[field.name.upper()] for field in fields(ApcoreSettings) if field.name.upper() in raw}
    for name in _LISTS:
        if name in given:
            given[name] = _words(name, given[name])
    if isinstance(given.get("middleware"), list):
        given["middleware"] = tuple(given["middleware"])
    for name, value in given.items():
        _require_type(name, value, f"APCORE[{name.upper()!r}]")
    return given


def imported(path: str) -> Any:
    """Return what a dotted path of the settings names. Raises ImproperlyConfigured."""
    try:
        return import_string(path)
    except ImportError as error:
        raise ImproperlyConfigured(f"APCORE names {path!r}, which cannot be imported: {error}") from error


def acl_conditions() -> dict[str, Any]:
    """Return the project's own conditions for access rules. Raises ImproperlyConfigured."""
    return {name: imported(path) for name, path in (get_settings().acl_conditions or {}).items()}


def middleware_settings() -> MiddlewareSettings:
    """Return the middleware of the settings, made. Raises ConfigError that names every mistake."""
    conf = get_settings()
    disabled = MiddlewareSettings.read({"disabled": conf.middleware_disabled}, place="APCORE['MIDDLEWARE_DISABLED']")
    return disabled | MiddlewareSettings.read(conf.middleware, place="APCORE['MIDDLEWARE']")


def _raw() -> Mapping[str, Any]:
    raw = getattr(settings, "APCORE", {})
    if not isinstance(raw, Mapping):
        raise ImproperlyConfigured(f"APCORE must be a dictionary, not {type(raw).__name__}.")
    return raw


def _words(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not all(isinstance(word, str) for word in value):
        raise ImproperlyConfigured(f"APCORE[{name.upper()!r}] must be a list of strings.")
    return tuple(value)


def _require_type(name: str, value: Any, place: str) -> None:
    expected = _TYPES[name]
    if not isinstance(value, expected) or (isinstance(value, bool) and bool not in expected):
        names = " or ".join(sorted(each.__name__ for each in expected))
        raise ImproperlyConfigured(f"{place} must be of type {names}, not {type(value).__name__}.")
    _require_range(name, value, place)


def _require_range(name: str, value: Any, place: str) -> None:
    """Numbers are 0 or more, or more than 0; days at most a hundred years; a timedelta longer than no time at all."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and not 0 <= value < float("inf"):
        raise ImproperlyConfigured(f"{place} must be a number from 0 on, not {value!r}.")
    if name in _MORE_THAN_NONE and value == 0:
        raise ImproperlyConfigured(f"{place} must be more than 0: with 0 no webhook would ever be heard.")
    if is_number and name.endswith("_days") and value > MOST_DAYS:
        raise ImproperlyConfigured(f"{place} must be at most {MOST_DAYS} days, not {value!r}.")
    if isinstance(value, timedelta) and value <= timedelta(0):
        raise ImproperlyConfigured(f"{place} must be longer than no time at all, not {value!r}.")


def _plain_types(hint: Any) -> tuple[type, ...]:
    """The classes that values of a type hint belong to; a whole number is fine where a float is asked for."""
    alternatives = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    classes = tuple(get_origin(each) or each for each in alternatives)
    return (*classes, int) if float in classes else classes


_TYPES = {name: _plain_types(hint) for name, hint in get_type_hints(ApcoreSettings).items()}


def _closest(key: str, known: list[str]) -> str | None:
    matches = difflib.get_close_matches(key.upper(), known, n=1, cutoff=0.6)
    return matches[0] if matches else None


def _reset(*, setting: str, **kwargs: Any) -> None:
    if setting == "APCORE":
        get_settings.cache_clear()


setting_changed.connect(_reset, dispatch_uid="django_apcore.conf")
