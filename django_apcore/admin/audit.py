"""The audit trail, to read and to verify."""

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_apcore import services
from django_apcore.admin.approval_page import url_of_subject
from django_apcore.admin.bases import ReadOnlyAdmin, dotted, json_block
from django_apcore.admin.presenters.values import visible
from django_apcore.models import AuditEntry


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ["number", "at", "event", "actor", "module", "about"]
    list_display_links = ["number", "event"]
    list_filter = ["kind", "at", "actor_type"]
    search_fields = ["subject", "module_id", "actor_id", "trace_id"]
    show_full_result_count = False
    fields = [
        "at", "kind", "actor", "module_id", "about", "trace_id", "what",
        "partition", "sequence", "previous_hash", "hash",
    ]  # fmt: skip
    readonly_fields = ["actor", "about", "what"]

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        listed = super().get_changelist_instance(request)
        listed.result_list = services.name_actors(listed.result_list)
        return listed

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> AuditEntry | None:
        entry = super().get_object(request, object_id, from_field)
        return services.name_actors([entry])[0] if entry is not None else None

    def get_urls(self) -> list[URLPattern]:
        verify = path("verify/", self.admin_site.admin_view(self.verify_view), name="django_apcore_auditentry_verify")
        return [verify, *super().get_urls()]

    def verify_view(self, request: HttpRequest) -> HttpResponse:
        """Check the whole trail now, and show what was found."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return self.page(request, "auditentry/verify", _("Verify the audit trail"), report=services.verify())

    @admin.display(description=gettext_lazy("entry"), ordering="pk")
    def number(self, entry: AuditEntry) -> str:
        return f"#{entry.pk}"

    @admin.display(description=gettext_lazy("kind"), ordering="kind")
    def event(self, entry: AuditEntry) -> SafeString:
        return dotted(entry.kind)

    @admin.display(description=gettext_lazy("module"), ordering="module_id")
    def module(self, entry: AuditEntry) -> SafeString:
        return dotted(entry.module_id)

    @admin.display(description=gettext_lazy("actor"), ordering="actor_id")
    def actor(self, entry: AuditEntry) -> str:
        return visible(entry.actor)

    @admin.display(description=gettext_lazy("subject"), ordering="subject")
    def about(self, entry: AuditEntry) -> SafeString | str:
        if address := url_of_subject(entry.subject):
            return format_html('<a href="{}">{}</a>', address, entry.subject)
        return visible(entry.subject)

    @admin.display(description=gettext_lazy("data"))
    def what(self, entry: AuditEntry) -> SafeString | str:
        return json_block(entry.data)
