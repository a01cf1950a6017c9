"""What the REST endpoints need of the project that mounts them."""

from typing import Any

from django.apps import apps
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, register
from django.urls import NoReverseMatch, reverse

from django_apcore.checks.configuration import Configs, with_settings
from django_apcore.conf import ApcoreSettings


@register("apcore")
def check_description(app_configs: Configs, **kwargs: Any) -> list[CheckMessage]:
    """W007: the REST endpoints describe themselves in words that OpenAPI has from 3.1 on."""
    version = str(getattr(settings, "SPECTACULAR_SETTINGS", {}).get("OAS_VERSION", "3.0"))
    if not apps.is_installed("drf_spectacular") or not version.startswith("3.0"):
        return []
    return [
        checks.Warning(
            "The description of the REST endpoints says OpenAPI 3.0, and needs 3.1.",
            hint='Set SPECTACULAR_SETTINGS = {"OAS_VERSION": "3.1.0"}.',
            id="django_apcore.W007",
        )
    ]


@register("apcore")
@with_settings
def check_endpoints(conf: ApcoreSettings) -> list[CheckMessage]:
    """W016: the REST endpoints, where they are mounted, have the apps that they need."""
    if not getattr(settings, "ROOT_URLCONF", None):
        return []
    try:
        reverse("apcore_api:modules")
    except NoReverseMatch:
        return []
    needed = ["rest_framework", "drf_spectacular"]
    if any(path.endswith(".TokenAuthentication") for path in conf.api_authentication_classes):
        needed.append("rest_framework.authtoken")
    missing = [name for name in needed if not apps.is_installed(name)]
    if not missing:
        return []
    return [
        checks.Warning(
            f"The REST endpoints are mounted, and cannot work without {', '.join(missing)}.",
            hint="Add what is missing to INSTALLED_APPS, and run migrate.",
            id="django_apcore.W016",
        )
    ]
