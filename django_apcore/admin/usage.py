"""How often modules are called, how long it takes, and which errors they have. To be read only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_apcore import runtime
from django_apcore.admin.bases import ReadOnlyAdmin, dotted, labelled, status_badge
from django_apcore.admin.presenters.times import ago
from django_apcore.admin.presenters.usage import WINDOWS, module_rows, window_of
from django_apcore.admin.presenters.values import visible
from django_apcore.models import ErrorRecord, UsageBucket


@admin.register(UsageBucket)
class UsageBucketAdmin(ReadOnlyAdmin):
    """Shows figures instead of the rows that they are made of: one query, whatever the number of modules."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.module_view)
        return [path("module/<str:module_id>/", view, name="django_apcore_usagebucket_module"), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """All modules that were called."""
        window = self._window(request)
        summary = runtime.get().app.usage.summary(window.hours)
        figures = {"summary": summary, "rows": module_rows(summary.modules)}
        return self._page(request, "list", _("Usage"), window, figures)

    def module_view(self, request: HttpRequest, module_id: str) -> HttpResponse:
        """One module, with its callers, its hours and its latest errors."""
        window, app = self._window(request), runtime.get().app
        usage = app.usage.module(module_id, window.hours)
        if not usage.figures.call_count and not app.registry.has(module_id):
            raise Http404
        most = max((period.figures.call_count for period in usage.trend), default=0)
        errors = [replace(each, message=visible(each.message)) for each in app.error_history.entries(module_id, 10)]
        figures = {"usage": usage, "rows": module_rows(usage.callers), "most": most, "errors": errors}
        return self._page(request, "module", visible(module_id), window, figures)

    def _window(self, request: HttpRequest) -> Any:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return window_of(request.GET.get("hours"))

    def _page(self, request: HttpRequest, name: str, title: str, window: Any, figures: dict[str, Any]) -> HttpResponse:
        return self.page(request, f"usagebucket/{name}", title, window=window, windows=WINDOWS, **figures)


@admin.register(ErrorRecord)
class ErrorRecordAdmin(ReadOnlyAdmin):
    list_display = ["error", "module", "message_shown", "times", "latest"]
    list_filter = ["code", "last_at", "module_id"]
    search_fields = ["module_id", "code", "kind", "trace_id"]
    show_full_result_count = False
    fields = ["module_id", "code", "kind", "message_shown", "where", "count", "first_at", "last_at", "trace_id"]
    readonly_fields = ["message_shown"]

    @admin.display(description=gettext_lazy("error"), ordering="code")
    def error(self, row: ErrorRecord) -> SafeString:
        return status_badge("bad", "✕", f"{row.code} ({row.kind})")

    @admin.display(description=gettext_lazy("module"), ordering="module_id")
    def module(self, row: ErrorRecord) -> SafeString:
        return dotted(row.module_id)

    @admin.display(description=gettext_lazy("message"))
    def message_shown(self, row: ErrorRecord) -> str:
        return visible(row.message)

    @admin.display(description=gettext_lazy("times"), ordering="count")
    def times(self, row: ErrorRecord) -> SafeString:
        return labelled(_("times"), row.count)

    @admin.display(description=gettext_lazy("latest"), ordering="last_at")
    def latest(self, row: ErrorRecord) -> SafeString:
        return labelled(_("latest"), ago(row.last_at))
