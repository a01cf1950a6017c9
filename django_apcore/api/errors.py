"""How an error becomes an answer: the object of §8.1 with the status of §8.2, whoever raised it."""

import logging
from collections.abc import Mapping
from typing import Any, Final

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.core.signals import got_request_exception
from django.http import Http404, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from rest_framework import exceptions
from rest_framework.response import Response

from apcore.errors import (
    ErrorFormatterRegistry,
    InternalError,
    InvalidInputError,
    ModuleError,
    ModuleExecuteError,
    format_error,
)
from django_apcore import runtime, services

logger = logging.getLogger("django_apcore.api")

ADAPTER: Final = "django"
"""The name under which the formatter of this package is registered."""

DATABASE_BUSY: Final = "REQUEST_DATABASE_BUSY"
"""The code of the answer while the database cannot do it."""

_BUSY_SECONDS: Final = 2
_BEFORE_THE_MODULE: Final = frozenset(
    {"context_creation", "call_chain_guard", "module_lookup", "input_rewrite", "acl_check", "approval_gate"}
)

_CODES: Final[tuple[tuple[type[exceptions.APIException], str], ...]] = (
    (exceptions.NotAuthenticated, "REQUEST_UNAUTHENTICATED"),
    (exceptions.AuthenticationFailed, "REQUEST_UNAUTHENTICATED"),
    (exceptions.PermissionDenied, "REQUEST_FORBIDDEN"),
    (exceptions.NotFound, "REQUEST_NOT_FOUND"),
    (exceptions.MethodNotAllowed, "REQUEST_METHOD_NOT_ALLOWED"),
    (exceptions.NotAcceptable, "REQUEST_NOT_ACCEPTABLE"),
    (exceptions.UnsupportedMediaType, "REQUEST_UNSUPPORTED_MEDIA_TYPE"),
    (exceptions.Throttled, "REQUEST_THROTTLED"),
)


class RequestError(ModuleError):
    """Something about the HTTP request itself; the code says what."""

    code = "REQUEST_REFUSED"
    http_status = 400
    retryable = False
    default_message = "The request cannot be answered"
    wait: int | None = None
    """After how many seconds it makes sense to try again."""

    @classmethod
    def too_large(cls, limit: int) -> "RequestError":
        """The body has more bytes than are read."""
        return cls(f"The body is larger than {limit} bytes.", code="REQUEST_TOO_LARGE", http_status=413)

    @classmethod
    def database_busy(cls, error: Exception) -> "RequestError":
        """The database cannot do it just now. Where the connection was lost, nobody promises that nothing happened."""
        answer = cls(
            "The database is busy or away just now.",
            code=DATABASE_BUSY,
            http_status=503,
            retryable=None if services.is_connection_lost(error) else True,
            trace_id=getattr(error, "trace_id", None),
        )
        answer.wait = _BUSY_SECONDS
        return answer

    @classmethod
    def not_found(cls, suggestion: str | None = None) -> "RequestError":
        """Nothing has this URL, or nothing that this caller may know about."""
        return cls("Nothing is here.", code="REQUEST_NOT_FOUND", http_status=404, suggestion=suggestion)


class RestErrorFormatter:
    """The error object of the REST face: that of §8.1, which always names a trace (§8.8.1)."""

    def format(self, error: ModuleError, context: Any) -> dict[str, Any]:
        """``context`` is whatever knows the ``trace_id`` of the request: a Context or a view."""
        return {**error.to_dict(), "trace_id": error.trace_id or context.trace_id}


def register_error_formatter() -> None:
    """Make the formatter known to the process, once (§8.8.4)."""
    if ErrorFormatterRegistry.get(ADAPTER) is None:
        ErrorFormatterRegistry.register(ADAPTER, RestErrorFormatter())


def error_response(error: Exception, context: Mapping[str, Any]) -> Response:
    """Answer any exception of a view. One that nobody foresaw is logged and answered without its text (500)."""
    view = context["view"]
    known = _foreseen(error, view)
    headers = _headers(error) | _headers(known)
    return Response(format_error(known, ADAPTER, view), status=known.http_status, headers=headers)


def error_body(error: Exception, view: Any) -> dict[str, Any]:
    """The error object alone, for an answer whose status has been sent."""
    return format_error(_foreseen(error, view), ADAPTER, view)


def _foreseen(error: Exception, view: Any) -> ModuleError:
    known = as_module_error(error)
    if services.may_pass(error) and (known is None or _left_nothing(known)):
        kind, state = type(error).__name__, services.sqlstate_of(error) or "no SQLSTATE"
        logger.warning("503 for %s: the database is busy or away (%s, %s)", view.request.path, kind, state)
        return RequestError.database_busy(error)
    if known is None or _is_of_no_call(known):
        logger.error("Unexpected error in %s", view.request.path, exc_info=error)
        got_request_exception.send(sender=type(view), request=view.request)
        known = InternalError("The request failed.", retryable=None)  # nobody knows how far it came
    return known


def _is_of_no_call(error: ModuleError) -> bool:
    """Whether the installation is at fault, as a rule file that is missing: such errors name files and settings."""
    is_about_a_module = isinstance(error, InternalError | ModuleExecuteError)
    return error.http_status == 500 and not error.chain and not is_about_a_module


def _left_nothing(error: ModuleError) -> bool:
    """Whether a call that failed has left nothing behind: no module ran yet, or all of it was undone."""
    is_nested = len(error.chain) > 1  # then the step is that of a call that a module made
    if not is_nested and error.details.get("step") in _BEFORE_THE_MODULE:
        return True
    registry, outermost = runtime.get().registry, error.chain[-1] if error.chain else ""
    known = registry.get_loaded(outermost)
    return known is not None and known.effect == "transactional"


def as_module_error(error: Exception) -> ModuleError | None:
    """The same error in the protocol's terms, or None for an unforeseen one."""
    match error:
        case ModuleError():
            return error
        case exceptions.ValidationError():
            return InvalidInputError("The request is not valid.", details={"fields": error.get_full_details()})
        case exceptions.APIException():
            return _from_rest_framework(error)
        case Http404():
            return RequestError.not_found()
        case PermissionDenied():
            return _from_rest_framework(exceptions.PermissionDenied())
        case RequestDataTooBig():
            return RequestError("The body is too large.", code="REQUEST_TOO_LARGE", http_status=413)
        case SuspiciousOperation() | MultiPartParserError() | UnreadablePostError():
            return InvalidInputError("The request cannot be read.")
    return None


def _from_rest_framework(error: exceptions.APIException) -> ModuleError:
    message = str(error.detail)
    code = next((code for kind, code in _CODES if isinstance(error, kind)), None)
    if code is None:
        return InvalidInputError(message) if error.status_code < 500 else InternalError(message)
    # A view without an authentication header would turn 401 into 403; who is unknown is told so all the same.
    status = 401 if code == "REQUEST_UNAUTHENTICATED" else error.status_code
    suggestion = "Send JSON, with Content-Type: application/json." if status == 415 else None
    throttled = code == "REQUEST_THROTTLED"
    return RequestError(message, code=code, http_status=status, retryable=throttled, suggestion=suggestion)


def _headers(error: Exception) -> dict[str, str]:
    headers: dict[str, str] = {}
    if auth_header := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = auth_header
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(wait))
    return headers
