"""The OpenAPI document of this API, and a page that shows it."""

from typing import Any

from drf_spectacular.renderers import OpenApiJsonRenderer2, OpenApiYamlRenderer
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.permissions import BasePermission
from rest_framework.renderers import JSONRenderer, TemplateHTMLRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from django_apcore.api.base import ApiView
from django_apcore.api.errors import RequestError
from django_apcore.api.links import path_to
from django_apcore.api.openapi import build_document
from django_apcore.conf import get_settings, imported


class DocumentationView(ApiView):
    """Base of the views that describe the API: who may read it can be opened up separately."""

    schema = None  # type: ignore[assignment] # not part of the document

    def get_permissions(self) -> list[BasePermission]:
        return [imported(path)() for path in get_settings().api_docs_permission_classes]


class SchemaView(DocumentationView):
    """The OpenAPI 3.1 document, as JSON or YAML."""

    renderer_classes = [JSONRenderer, OpenApiJsonRenderer2, OpenApiYamlRenderer]

    def get(self, request: Request) -> Response:
        return Response(build_document(request))


class DocsView(DocumentationView, SpectacularSwaggerSplitView):
    """Swagger UI over the document, light or dark as the reader has it."""

    renderer_classes = [TemplateHTMLRenderer]
    template_name = "django_apcore/api/docs.html"

    def get(self, request: Request) -> Response:
        self.url = path_to(request, "schema")
        response: Response = super().get(request)  # type: ignore[no-untyped-call]  # theirs is untyped
        return response


class UnknownView(ApiView):
    """Every other path below the API: who is not known is asked who they are, others are told that nothing is here."""

    schema = None  # type: ignore[assignment] # not part of the document

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise RequestError.not_found(None if request.path.endswith("/") else "All paths of this API end with a slash.")
