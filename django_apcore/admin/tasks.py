"""Calls that run in workers, and how far they are."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_apcore.admin.bases import NOTHING, ReadOnlyAdmin, dotted, json_block, labelled, status_badge
from django_apcore.admin.presenters.times import ago
from django_apcore.admin.presenters.values import visible
from django_apcore.models import AsyncTask

Status = AsyncTask.Status
_MARKS = {
    Status.PENDING: ("○", "pending"),
    Status.RUNNING: ("◐", "approved"),
    Status.COMPLETED: ("✓", "consumed"),
    Status.FAILED: ("!", "failed"),
    Status.CANCELLED: ("–", "cancelled"),
}


@admin.register(AsyncTask)
class AsyncTaskAdmin(ReadOnlyAdmin):
    list_display = ["module", "standing", "progress", "asked_by", "asked"]
    list_filter = ["status", "module_id"]
    list_select_related = ["requested_by"]
    search_fields = ["module_id", "identity_id", "requested_by__username", "trace_id"]
    show_full_result_count = False
    fields = [
        "module_id", "standing", "progress", "asked_by", "trace_id", "inputs", "result", "failure",
        "created_at", "started_at", "finished_at", "cancel_requested", "celery_id",
    ]  # fmt: skip
    readonly_fields = ["standing", "progress", "asked_by", "inputs", "result", "failure"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[AsyncTask]:
        return super().get_queryset(request).defer("inputs_encrypted", "result_encrypted", "context_json")

    @admin.display(description=gettext_lazy("module"), ordering="module_id")
    def module(self, task: AsyncTask) -> SafeString:
        return dotted(task.module_id)

    @admin.display(description=gettext_lazy("status"), ordering="status")
    def standing(self, task: AsyncTask) -> SafeString:
        sign, style = _MARKS[Status(task.status)]
        return status_badge(style, sign, Status(task.status).label)

    @admin.display(description=gettext_lazy("progress"))
    def progress(self, task: AsyncTask) -> SafeString | str:
        if task.status == Status.PENDING:
            return NOTHING
        words = f"{task.progress} %"
        if task.progress_message and not task.is_finished:
            words = f"{words}, {visible(task.progress_message)}"
        if not task.progress_total and not task.is_finished:
            return visible(task.progress_message) or _("running")
        return format_html(
            '<progress class="apcore-bar" max="100" value="{}" aria-label="{}"></progress> {}',
            task.progress,
            _("progress"),
            words,
        )

    @admin.display(description=gettext_lazy("who asks"), ordering="identity_id")
    def asked_by(self, task: AsyncTask) -> str:
        if task.requested_by is not None:
            return visible(task.requested_by.get_username())
        return visible(task.identity_id) or _("anonymous")

    @admin.display(description=gettext_lazy("asked"), ordering="created_at")
    def asked(self, task: AsyncTask) -> SafeString:
        return labelled(_("asked"), ago(task.created_at))

    @admin.display(description=gettext_lazy("inputs"))
    def inputs(self, task: AsyncTask) -> SafeString | str:
        return json_block(task.inputs_redacted)

    @admin.display(description=gettext_lazy("result"))
    def result(self, task: AsyncTask) -> SafeString | str:
        return json_block(task.result_redacted)

    @admin.display(description=gettext_lazy("error"))
    def failure(self, task: AsyncTask) -> SafeString | str:
        return json_block(task.error)
