"""Links between resources, wherever the project has mounted the API."""

from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse
from rest_framework.request import Request

APP_NAME = "apcore_api"


def link(request: Request | HttpRequest, view: str, *arguments: str | UUID) -> str:
    """The absolute URL of a view of this API."""
    return request.build_absolute_uri(path_to(request, view, *arguments))


def path_to(request: Request | HttpRequest, view: str, *arguments: str | UUID) -> str:
    """The path of a view of this API, in the mount through which the request came."""
    match = request.resolver_match
    namespace = match.namespace if match is not None and match.namespace else APP_NAME
    return reverse(f"{namespace}:{view}", args=arguments)
