"""Calls that were stored, and the executor that makes them again."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.apps import apps
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError

from apcore.context import Context, Identity, TraceLink, parse_traceparent
from apcore.errors import ACLDeniedError, ModuleError
from apcore.execution import Executor
from apcore.modules import ModuleDefinition
from apcore.redaction import DEFAULT_SENSITIVE_KEYS, NO_SECRETS, SensitiveValues, redact
from apcore.telemetry.propagation import traceparent_of
from django_apcore.conf import get_settings
from django_apcore.context import user_pk_of
from django_apcore.exceptions import UndecryptableError
from django_apcore.models import ApprovalRequest, AsyncTask
from django_apcore.secrets import decrypt, encrypt

TRACEPARENT: Final = "traceparent"
"""The key under which the span that asked is kept beside a stored context."""

WORKERS_TO_LOSE: Final = 3
"""How many workers one call may take with it before nobody tries it any more."""
LOST_AFTER: Final = timedelta(minutes=5)
"""How long a worker may be silent, since a busy database keeps signs of life waiting, too."""


@dataclass(frozen=True, slots=True)
class StoredInputs:
    """The inputs of a stored call: the effective ones, and the caller's own where a rewriter changed them."""

    effective: Mapping[str, Any]
    original: Mapping[str, Any] | None = None

    @property
    def sent(self) -> Mapping[str, Any]:
        """What the caller sent, from which a rewriter makes the effective inputs again."""
        return self.effective if self.original is None else self.original

    def encrypted(self) -> str:
        """The form that is stored."""
        return encrypt({"effective": dict(self.effective), "original": self.original and dict(self.original)})

    @classmethod
    def from_encrypted(cls, text: str) -> "StoredInputs":
        """Read the stored form. Raises UndecryptableError."""
        return cls(**decrypt(text))


def executor() -> Executor:
    """The executor of this process. The app config keeps it, since services stand below the runtime that builds it."""
    config: Any = apps.get_app_config("django_apcore")
    found: Executor = config.get_runtime().executor
    return found


def require_open_account(call: ApprovalRequest | AsyncTask) -> None:
    """Raise ACLDeniedError if the account that made a stored call was closed since: then it could not make it now."""
    identity = Context.deserialize(call.context_json).identity
    pk = identity.attrs.get("user_pk") if identity else None
    if pk is None:
        return
    user = get_user_model()._default_manager.filter(pk=pk).first()
    if user is None or not user.is_active:
        raise ACLDeniedError("The account that asked for this has been closed", module_id=call.module_id)


def with_defaults(module_id: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs as the executor completes them, or as they are where the module is not there any more."""
    known = known_definition(module_id)
    return dict(inputs if known is None else known.with_defaults(inputs))


def known_definition(module_id: str) -> ModuleDefinition | None:
    """The definition of the module of a stored call; None where it is not there any more, or does not load here."""
    try:
        return executor().registry.get_definition(module_id)
    except ModuleError:
        return None


def caller_context(context: Context) -> dict[str, Any]:
    """The context from which the call of `context` was made, as redacted JSON that `Context.deserialize` reads."""
    data = stored_context(context)
    data["call_chain"] = data["call_chain"][:-1]
    return data


def stored_context(context: Context) -> dict[str, Any]:
    """A context as JSON without secrets, from which `restored_context` makes it again in another process."""
    data: dict[str, Any] = dict(redacted(context.serialize()))
    parent = traceparent_of(context)
    return data if parent is None else {**data, TRACEPARENT: parent.to_header()}


def restored_context(data: Mapping[str, Any]) -> Context:
    """The context of a stored call, in the trace of whoever asked for it and linked to the span that did (§10.1)."""
    context = Context.deserialize(data)
    parent = parse_traceparent(data.get(TRACEPARENT))
    if parent is not None and parent.trace_id == context.trace_id:
        context.span = TraceLink(parent)
    return context


def redacted(value: Any, schema: Mapping[str, Any] | None = None) -> Any:
    """A copy that people may see: marked and well-known sensitive values replaced (§10.6)."""
    return redact(value, schema, keys=sensitive_keys())


def secrets_of(inputs: Mapping[str, Any], schema: Mapping[str, Any] | None) -> SensitiveValues:
    """What the inputs of a call hold that nobody may see, to be hidden wherever the module passes it on."""
    return SensitiveValues(dict(inputs), schema, sensitive_keys())


def secrets_of_stored(call: ApprovalRequest | AsyncTask) -> SensitiveValues:
    """The same for a stored call. Where its inputs cannot be read any more, no module has seen them either."""
    known = known_definition(call.module_id)
    schema = None if known is None else known.input_schema
    try:
        return secrets_of(StoredInputs.from_encrypted(call.inputs_encrypted).effective, schema)
    except UndecryptableError:
        return NO_SECRETS


def sensitive_keys() -> Collection[str]:
    """The names of values that nobody may see, wherever they occur."""
    return frozenset(DEFAULT_SENSITIVE_KEYS) | frozenset(get_settings().sensitive_keys)


def identity_columns(identity: Identity | None) -> dict[str, Any]:
    """The columns that keep who asked."""
    if identity is None:
        return {"identity_id": "", "identity_type": "", "identity_roles": []}
    return {"identity_id": identity.id, "identity_type": identity.type, "identity_roles": list(identity.roles)}


def user_pk(identity: Identity | None) -> Any:
    """The key of the user who asked, if there is one with it: identities of other systems may look like ours."""
    pk = user_pk_of(identity)
    if pk is None:
        return None
    try:
        return get_user_model().objects.filter(pk=pk).values_list("pk", flat=True).first()
    except (ValueError, ValidationError):
        return None
