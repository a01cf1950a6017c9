"""Health: whether the process can work, for load balancers; everything, for who may see it."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from django_apcore import services
from django_apcore.api.base import ApiView
from django_apcore.api.openapi import answers, described
from django_apcore.permissions import VIEW_HEALTH

_STATUSES = ("ok", "warn", "error")


class HealthCheckSerializer(serializers.Serializer[Any]):
    """One check."""

    name = serializers.CharField()
    status = serializers.ChoiceField(_STATUSES)
    sentence = serializers.CharField(help_text="What is the case and, unless all is well, what to do.")
    figures = serializers.JSONField(help_text="The figures behind it.")


@extend_schema_serializer(component_name="Health")
class HealthSerializer(serializers.Serializer[Any]):
    """The state of the installation. Without the permission to see more, only the status."""

    status = serializers.ChoiceField(_STATUSES)
    at = serializers.DateTimeField(required=False)
    checks = HealthCheckSerializer(many=True, required=False)


class HealthView(ApiView):
    """Open to everybody: who may not view health learns `ok` or `error` and nothing else."""

    def get_permissions(self) -> list[BasePermission]:
        return []

    @described(operation_id="get_health", responses=answers(HealthSerializer) | {503: HealthSerializer})
    def get(self, request: Request) -> Response:
        """Read whether all is well. The status is 503 if it is not; warnings are no failure."""
        if request.user.has_perm(VIEW_HEALTH):
            report = services.check_health()
            return Response(report.to_dict(), status=503 if report.status == "error" else 200)
        is_alive = services.is_alive()
        return Response({"status": "ok" if is_alive else "error"}, status=200 if is_alive else 503)
