"""What all views share: who may come in, which trace a request belongs to, and how its answer leaves."""

import secrets
from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

from django.contrib.auth.models import User
from django.db import connections, transaction
from django.http import HttpRequest
from django.utils.cache import add_never_cache_headers
from drf_spectacular.openapi import AutoSchema
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import NotAuthenticated
from rest_framework.permissions import BasePermission
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apcore.context import Context, TraceParent, new_trace_id, parse_traceparent
from apcore.telemetry.propagation import active_span
from django_apcore import runtime
from django_apcore.api.errors import error_response
from django_apcore.api.parsers import StrictJSONParser
from django_apcore.conf import get_settings, imported


class ApiView(APIView):
    """Base of all views: JSON in and out, credentials needed, errors in the protocol's form, one trace per request."""

    schema = AutoSchema()
    parser_classes = [StrictJSONParser]
    renderer_classes = [JSONRenderer]

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Any:
        """The view, outside of any transaction per request: an approval request must outlive a refused call."""
        view = super().as_view(**initkwargs)
        for alias in connections:
            view = transaction.non_atomic_requests(using=alias)(view)
        return view

    def get_authenticators(self) -> list[BaseAuthentication]:
        return [imported(path)() for path in get_settings().api_authentication_classes]

    def get_permissions(self) -> list[BasePermission]:
        return [imported(path)() for path in get_settings().api_permission_classes]

    def get_exception_handler(self) -> Callable[..., Any]:
        return error_response

    @property
    def person(self) -> User:
        """The user who decides. Raises NotAuthenticated where the project lets anonymous callers in."""
        user = self.request.user
        if not user.is_authenticated:
            raise NotAuthenticated
        return user

    @cached_property
    def call_context(self) -> Context:
        """The context of the calls that this request makes: the caller's identity, under the caller's trace (§12.2)."""
        return runtime.get().context_factory.create_context(self.request)

    @property
    def trace_id(self) -> str:
        """The trace of this request, also where it failed before anybody was recognised."""
        if "call_context" in self.__dict__:
            return self.call_context.trace_id
        return self._trace_of_request.trace_id

    @cached_property
    def _trace_of_request(self) -> TraceParent:
        active = active_span()
        if active is not None:
            return active
        given = parse_traceparent(self.request.headers.get("traceparent"))
        if given is None:
            return TraceParent(new_trace_id(), secrets.token_hex(8))
        return TraceParent(given.trace_id, secrets.token_hex(8), given.flags)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        """Answer, and write the answer down here, where a value that JSON cannot hold still becomes an error object."""
        response: Any = super().dispatch(request, *args, **kwargs)
        if response.streaming:
            return cast(Response, response)
        try:
            response.render()
        except Exception as error:  # noqa: BLE001 - every error has an answer
            response = self.finalize_response(self.request, self.handle_exception(error), *args, **kwargs)
            response.render()
        return cast(Response, response)

    def handle_exception(self, exc: Exception) -> Response:
        """Answer an error as JSON, also where the view itself answers with something else."""
        self.request.accepted_renderer, self.request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
        return super().handle_exception(exc)

    def settled(self, act: Callable[[], Response]) -> Response:
        """The answer of `act`, whether it succeeds or fails."""
        try:
            return act()
        except Exception as error:  # noqa: BLE001 - every error has an answer
            return self.handle_exception(error)

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        """Add the outgoing `traceparent` (§10.5), and keep business data out of every cache."""
        response = super().finalize_response(request, response, *args, **kwargs)
        ours = self._trace_of_request
        response["traceparent"] = TraceParent(self.trace_id, ours.span_id, ours.flags).to_header()
        add_never_cache_headers(response)
        return response
