"""The context that every call carries (§5.7)."""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from apcore.context.cancel import CancelToken
from apcore.context.identity import Identity
from apcore.context.trace import TraceParent, is_trace_id, new_trace_id
from apcore.errors import InvalidInputError, require, require_texts
from apcore.redaction import DEFAULT_SENSITIVE_KEYS, redact

logger = logging.getLogger("apcore.context")

_PRIVATE_KEY_PREFIX = "_"
_WIRE_VERSION: Final = 1
_REHEARSAL = "_apcore.rehearsal"


class Context:
    """Runtime facts of one call, and the bag that its chain shares (§5.7).

    Without a ``trace_id`` a trace begins. Inside a module ``call_chain`` ends with the module itself and ``caller_id``
    is the entry before it. ``data`` is one dict for the whole chain; everything else belongs to this call alone.
    ``span`` is what traces this call, None when nobody does; on a context for a top-level call it may be what the call
    continues, a ``TraceParent`` or a ``TraceLink`` (§10.1).
    """

    __slots__ = (
        "_redacted",
        "_settled",
        "attempt",
        "call_chain",
        "caller_id",
        "cancel_token",
        "data",
        "deadline",
        "executor",
        "identity",
        "prepared_for",
        "services",
        "span",
        "trace_id",
    )

    def __init__(
        self,
        trace_id: str = "",
        caller_id: str | None = None,
        call_chain: Iterable[str] = (),
        executor: Any = None,
        identity: Identity | None = None,
        data: dict[str, Any] | None = None,
        cancel_token: CancelToken | None = None,
        services: Mapping[str, Any] | None = None,
        redacted_inputs: dict[str, Any] | None = None,
        deadline: float | None = None,
    ) -> None:
        self.trace_id = trace_id or new_trace_id()
        self.caller_id = caller_id
        self.call_chain = [*call_chain]
        self.executor = executor
        self.identity = identity
        self.data = {} if data is None else data
        self.cancel_token = cancel_token
        self.services = services
        self._redacted = redacted_inputs
        self._settled: tuple[Any, Mapping[str, Any], Collection[str]] | None = None
        self.deadline = deadline
        self.prepared_for: str | None = None
        self.attempt = 1
        self.span: Any = None

    @classmethod
    def create(
        cls,
        *,
        identity: Identity | None = None,
        trace_parent: str | None = None,
        caller_id: str | None = None,
        call_chain: Iterable[str] = (),
        executor: Any = None,
        data: dict[str, Any] | None = None,
        cancel_token: CancelToken | None = None,
        services: Mapping[str, Any] | None = None,
    ) -> Context:
        """A top-level context. An invalid ``trace_parent`` is replaced and logged, never refused (§10.5).

        Raises InvalidInputError for any other argument of the wrong type.
        """
        _require_kinds(identity=identity, caller_id=caller_id, data=data, cancel_token=cancel_token, services=services)
        if trace_parent is not None and not is_trace_id(trace_parent):
            logger.warning("Ignoring an invalid trace_parent; a new trace ID was generated")
            trace_parent = None
        context = cls(
            trace_parent or "",
            caller_id,
            require_texts("call_chain of a context", call_chain),
            executor,
            identity,
            data,
            cancel_token,
            services,
        )
        if trace_parent is not None:
            context.span = TraceParent(trace_parent, "")
        return context

    @property
    def redacted_inputs(self) -> dict[str, Any] | None:
        """A copy of the effective inputs in which everything sensitive is ``***REDACTED***`` (§5.7, §10.6).

        It is made when somebody asks, once for a call. None before the inputs are known.
        """
        if self._redacted is None and self._settled is not None:
            inputs, schema, keys = self._settled
            self._redacted = copy.deepcopy(dict(redact(inputs, schema, keys)))
        return self._redacted

    def settle_inputs(self, inputs: Mapping[str, Any], schema: Mapping[str, Any], keys: Collection[str]) -> None:
        """Say with which inputs the call goes on, and which of their values nobody may see."""
        self._settled, self._redacted = (inputs, schema, keys), None

    @property
    def sensitive_keys(self) -> Collection[str]:
        """The names whose values nobody may see, as the executor of this call has them (§10.6)."""
        return DEFAULT_SENSITIVE_KEYS if self._settled is None else self._settled[2]

    def child(self, module_id: str) -> Context:
        """The context in which ``module_id`` runs when it is called from here (§5.7, §12.7.2).

        An executor that is handed the result for that module uses it as it is, and does not extend the chain twice.
        """
        child = self._extend(module_id)
        child.prepared_for = module_id
        return child

    def enter(self, module_id: str) -> Context:
        """What the executor gives to ``module_id``: a child, or this context if it was made for that module (§5.9)."""
        if self.prepared_for == module_id:
            self.prepared_for = None
            return self
        return self._extend(module_id)

    def _extend(self, module_id: str) -> Context:
        chain = self.call_chain
        return Context(
            self.trace_id,
            chain[-1] if chain else self.caller_id,
            (*chain, module_id),
            self.executor,
            self.identity,
            self.data,
            CancelToken(self.cancel_token),
            self.services,
            None,
            self.deadline,
        )

    def rehearsal(self) -> Context:
        """This context for a run that will be undone: what the module puts into ``data`` is dropped with it."""
        rehearsal = Context(
            self.trace_id,
            self.caller_id,
            self.call_chain,
            self.executor,
            self.identity,
            {**self.data, _REHEARSAL: True},
            self.cancel_token,
            self.services,
            self._redacted,
            self.deadline,
        )
        rehearsal._settled = self._settled
        rehearsal.span = self.span
        return rehearsal

    def report_progress(self, done: int, total: int | None = None, message: str = "") -> None:
        """Tell whoever watches this call how far it is; nobody watching is fine."""
        report = (self.services or {}).get("progress")
        if report is not None:
            report(done, total, message)

    def serialize(self) -> dict[str, Any]:
        """The JSON form that may travel between processes (§5.7).

        ``executor``, ``services``, the cancel token and keys of ``data`` that start with an underscore stay; so do
        values of ``data`` and of the identity's ``attrs`` that JSON cannot hold, with a warning. ``_context_version``
        tells readers of another release which form this is.
        """
        identity = self.identity.to_dict() if self.identity else None
        if identity is not None:
            identity["attrs"] = _travelling("identity.attrs", identity["attrs"])
        shared = {key: value for key, value in self.data.items() if not str(key).startswith(_PRIVATE_KEY_PREFIX)}
        return {
            "_context_version": _WIRE_VERSION,
            "trace_id": self.trace_id,
            "caller_id": self.caller_id,
            "call_chain": list(self.call_chain),
            "identity": identity,
            "data": _travelling("context.data", shared),
        }

    @classmethod
    def deserialize(cls, data: Mapping[str, Any]) -> Context:
        """Read the form of ``serialize()``. The executor that continues the call injects itself (§5.7).

        What is unknown is ignored, and a form of another version is read as far as it is known, with a warning.
        Raises InvalidInputError when it is not of that form: without a valid ``trace_id``, for example.
        """
        require("A serialized context", data, Mapping, "an object")
        version = data.get("_context_version", _WIRE_VERSION)
        if version != _WIRE_VERSION:
            logger.warning("A serialized context of version %r is read as version %d", version, _WIRE_VERSION)
        if not is_trace_id(data.get("trace_id")):
            raise InvalidInputError("A serialized context needs a valid trace_id: 32 lower-case hex digits (§10.5)")
        identity, shared = data.get("identity"), data.get("data")
        read = Identity.from_dict(identity) if identity is not None else None
        _require_kinds(caller_id=data.get("caller_id"), data=shared)
        chain = require_texts("call_chain of a context", data.get("call_chain") or ())
        context = cls(data["trace_id"], data.get("caller_id"), chain, identity=read, data=dict(shared or {}))
        context.span = TraceParent(context.trace_id, "")
        return context

    def __repr__(self) -> str:
        return f"Context(trace_id={self.trace_id!r}, call_chain={self.call_chain!r}, identity={self.identity!r})"


def is_rehearsal(context: Context) -> bool:
    """Whether this call, or one further up, runs only to see what it would do, and will be undone."""
    return _REHEARSAL in context.data


_KINDS: Final[Mapping[str, tuple[Any, str]]] = {
    "identity": (Identity, "an Identity"),
    "caller_id": (str, "the ID of a module"),
    "data": (dict, "a dict"),
    "cancel_token": (CancelToken, "a CancelToken"),
    "services": (Mapping, "an object of services by name"),
}


def _require_kinds(**fields: object) -> None:
    for name, value in fields.items():
        if value is not None:
            require(f"{name} of a context", value, *_KINDS[name])


def _travelling(where: str, values: Mapping[Any, Any]) -> dict[str, Any]:
    """A copy of what of the values JSON can hold."""
    copied: dict[str, Any] = {}
    for key, value in values.items():
        try:
            require("A key", key, str, "a text")
            copied[key] = json.loads(json.dumps(value, allow_nan=False))
        except (InvalidInputError, TypeError, ValueError, RecursionError):
            logger.warning("%s[%r] is no JSON value and stays behind", where, key)
    return copied
