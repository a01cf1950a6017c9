"""The catalogue: which modules a caller may call, and what each of them takes and does."""

from drf_spectacular.utils import OpenApiParameter
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from apcore.modules import ModuleDefinition
from apcore.registry.exports import DEFAULT_PROFILE, PROFILES
from django_apcore import runtime
from django_apcore.api.base import ApiView
from django_apcore.api.filters import flag
from django_apcore.api.openapi import answers, described
from django_apcore.api.pagination import Pages
from django_apcore.api.serializers import ModuleSerializer, ModuleSummarySerializer
from django_apcore.api.visibility import listed_modules, visible_module


class ModuleListView(ApiView, ListAPIView[ModuleDefinition]):  # type: ignore[type-var] # modules are not rows
    """Modules that the caller may call."""

    serializer_class = ModuleSummarySerializer
    pagination_class = Pages
    filter_backends = []

    @described(
        operation_id="list_modules",
        parameters=[
            OpenApiParameter("prefix", description="Only IDs that start with this."),
            OpenApiParameter("tag", many=True, description="Only modules with this tag; several mean all of them."),
        ],
        responses=answers(ModuleSummarySerializer(many=True), 404),
    )
    def get(self, request: Request) -> Response:
        """List the modules that you may call, by ID."""
        return self.list(request)

    def get_queryset(self) -> list[ModuleDefinition]:  # type: ignore[override]  # modules are no rows
        query = self.request.query_params
        return listed_modules(self.call_context, prefix=query.get("prefix"), tags=query.getlist("tag"))


class ModuleView(ApiView):
    """One module."""

    @described(operation_id="get_module", responses=answers(ModuleSerializer, 404))
    def get(self, request: Request, module_id: str) -> Response:
        """Describe a module, with its schemas. One that you may not call is as unknown as one that does not exist."""
        module = visible_module(module_id, self.call_context)
        return Response(ModuleSerializer(module, context={"request": request}).data)


class ModuleSchemaView(ApiView):
    """The schemas of one module, for other tools."""

    @described(
        operation_id="get_module_schema",
        parameters=[
            OpenApiParameter("profile", enum=PROFILES, default=DEFAULT_PROFILE),
            OpenApiParameter("strict", bool, default=False, description="Schemas in which every property is required."),
        ],
        responses=answers({"type": "object", "additionalProperties": {}}, 400, 404),
    )
    def get(self, request: Request, module_id: str) -> Response:
        """Export a module's schemas in the form of a profile."""
        visible_module(module_id, self.call_context)
        query = request.query_params
        profile = query.get("profile", DEFAULT_PROFILE)
        return Response(runtime.get().registry.export_schema(module_id, flag(query, "strict"), profile))
