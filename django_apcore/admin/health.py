"""Whether everything that calls and approvals need is there, and what to do where it is not. To be read only."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from django_apcore import services
from django_apcore.admin.bases import ReadOnlyAdmin, status_badge
from django_apcore.admin.presenters.values import visible
from django_apcore.models import Heartbeat

_SIGNS = {"ok": ("good", "✓"), "warn": ("warn", "!"), "error": ("bad", "✕")}


@admin.register(Heartbeat)
class HealthAdmin(ReadOnlyAdmin):
    """Shows what was looked at just now, instead of the signs of life that some of it goes by."""

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Every check, the worst first."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        report = services.check_health()
        worst_first = sorted(report.findings, key=lambda each: list(_SIGNS).index(each.status), reverse=True)
        words = {"ok": _("All is well"), "warn": _("Something needs attention"), "error": _("Something does not work")}
        rows = [
            (each.name, _SIGNS[each.status][0], status_badge(*_SIGNS[each.status], each.status), visible(each.sentence))
            for each in worst_first
        ]
        summary = status_badge(*_SIGNS[report.status], words[report.status])
        return self.page(request, "heartbeat/health", _("Health"), summary=summary, rows=rows)
