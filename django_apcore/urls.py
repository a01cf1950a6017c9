"""The REST face below `url_prefix`, for `path("", include("django_apcore.urls"))` (§9.13.3).

A project that wants it elsewhere includes `django_apcore.api.urls` where it likes.
"""

from django.urls import include, path

from django_apcore.conf import get_settings

urlpatterns = [path(f"{get_settings().url_prefix.strip('/')}/".lstrip("/"), include("django_apcore.api.urls"))]
