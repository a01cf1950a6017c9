"""A page for people where the database is busy or away just now; programs get such an answer of the REST face."""

import logging
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.deprecation import MiddlewareMixin

from django_apcore import services

logger = logging.getLogger("django_apcore.admin")

_SECONDS = 5
"""After how many seconds it makes sense to try again."""


class DatabaseBusyMiddleware(MiddlewareMixin):
    """Answers 503 with `Retry-After` instead of 500 where a page of the admin meets trouble that passes.

    Its place in `MIDDLEWARE` does not matter. Pages of others, and other errors, are left to Django.
    """

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """The page, or nothing for what is not ours to answer. It asks the database nothing."""
        found = request.resolver_match
        if found is None or "admin" not in found.app_names or not services.may_pass(exception):
            return None
        kind, state = type(exception).__name__, services.sqlstate_of(exception) or "no SQLSTATE"
        logger.warning("503 for %s: the database is busy or away (%s, %s)", request.path, kind, state)
        known = {"is_safe": request.method in ("GET", "HEAD"), "path": request.get_full_path()}
        answer = HttpResponse(
            render_to_string("admin/django_apcore/busy.html", known), status=HTTPStatus.SERVICE_UNAVAILABLE
        )
        answer["Retry-After"], answer["Cache-Control"] = str(_SECONDS), "no-store"
        return answer
