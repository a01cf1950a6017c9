"""Usage: how often modules were called, how long that took and how often it failed."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from apcore.errors import InvalidInputError, ModuleNotFoundError
from django_apcore import runtime
from django_apcore.api.base import ApiView
from django_apcore.api.openapi import answers, described
from django_apcore.api.usage import ModuleUsageSerializer, UsageSummarySerializer
from django_apcore.permissions import VIEW_USAGE

_USAGE = PolymorphicProxySerializer(
    component_name="Usage", serializers=[UsageSummarySerializer, ModuleUsageSerializer], resource_type_field_name=None
)


class UsageView(ApiView):
    """Figures of calls, for who may view usage."""

    @described(
        operation_id="get_usage",
        parameters=[
            OpenApiParameter("module_id", description="This module alone, with its callers and its hours."),
            OpenApiParameter(
                "hours", OpenApiTypes.INT, description="The current hour and those before it; 24 by default."
            ),
            OpenApiParameter("caller_type", description="Only calls of this kind of caller."),
        ],
        responses=answers(_USAGE, 400, 403, 404),
    )
    def get(self, request: Request) -> Response:
        """Read how often modules were called, how long it took, and how often it failed."""
        if not request.user.has_perm(VIEW_USAGE):
            raise PermissionDenied("You may not view usage.")
        query = request.query_params
        hours, kind = _hours(query.get("hours", "24")), _text("caller_type", query.get("caller_type"))
        module_id = _text("module_id", query.get("module_id"))
        app = runtime.get().app
        if module_id is None:
            return Response(app.usage.summary(hours, caller_type=kind).to_dict())
        usage = app.usage.module(module_id, hours, caller_type=kind)
        if not usage.figures.call_count and not app.registry.has(module_id):
            raise ModuleNotFoundError(f"Module '{module_id}' is not registered, and nobody called it")
        return Response(usage.to_dict())


def _hours(given: str) -> int:
    """A number of hours; how many there may be is for the collector to say. Raises InvalidInputError."""
    if not (given.isascii() and given.isdigit() and len(given) <= 6):
        raise InvalidInputError("hours must be a whole number.")
    return int(given)


def _text(name: str, given: str | None) -> str | None:
    if given and "\0" in given:  # PostgreSQL takes no NUL, not even to compare with
        raise InvalidInputError(f"{name} may not contain NUL.")
    return given or None
