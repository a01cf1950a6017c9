"""The approval queue and the page on which a person decides. Every decision is made by a service."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, cast
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apcore.errors import ModuleError
from django_apcore import services
from django_apcore.admin import approval_queries as queries
from django_apcore.admin.approval_page import ApprovalPage, page_url, state
from django_apcore.admin.bases import NOTHING, ReadOnlyAdmin, dotted, labelled, status_badge
from django_apcore.admin.filters import StatusFilter
from django_apcore.admin.forms import DecisionForm, ReasonForm
from django_apcore.admin.presenters import changes, refusals, requests, times
from django_apcore.admin.presenters.statements import Statement
from django_apcore.models import ApprovalRequest

_PREFIX = "django_apcore_approvalrequest"
Verb = Callable[[UUID, User, Any], str]
"""Does something to a request on behalf of a user, with the cleaned form, and says in a sentence what it did."""


@admin.register(ApprovalRequest)
class ApprovalRequestAdmin(ReadOnlyAdmin):
    list_display = ["standing", "module", "asked_by", "effect", "age", "expiry"]
    list_display_links = ["module"]
    list_filter = [StatusFilter, "module_id", "provenance", "effect_complete", "effect_destructive", "policy"]
    list_select_related = ["requested_by"]
    list_per_page = 50
    ordering = ["-created_at"]
    search_fields = ["module_id", "identity_id", "requested_by__username", "trace_id"]
    search_help_text = gettext_lazy("Module, who asks, trace, or the ID of a request")
    show_full_result_count = False

    # -- the queue -----------------------------------------------------------------------------------------------------

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApprovalRequest]:
        return super().get_queryset(request).defer("inputs_encrypted", "result_encrypted", "context_json")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[ApprovalRequest], search_term: str
    ) -> tuple[QuerySet[ApprovalRequest], bool]:
        try:
            known = UUID(search_term.strip())
        except ValueError:
            return super().get_search_results(request, queryset, search_term)
        return queryset.filter(Q(pk=known) | Q(trace_id=known.hex)), False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"title": _("Approval queue"), **(extra_context or {})})

    @admin.display(description=gettext_lazy("status"), ordering="status")
    def standing(self, approval: ApprovalRequest) -> SafeString:
        mark = requests.status_mark(approval)
        return status_badge(mark.style, mark.sign, mark.word)

    @admin.display(description=gettext_lazy("module"), ordering="module_id")
    def module(self, approval: ApprovalRequest) -> SafeString:
        return dotted(approval.module_id)

    @admin.display(description=gettext_lazy("who asks"), ordering="identity_id")
    def asked_by(self, approval: ApprovalRequest) -> str:
        return requests.requester(approval)

    @admin.display(description=gettext_lazy("effect"), ordering="effect_total")
    def effect(self, approval: ApprovalRequest) -> SafeString | str:
        if approval.provenance == ApprovalRequest.Provenance.NONE:
            return _("cannot be previewed")
        totals = changes.totals(approval.effect_counts)
        listed = format_html_join(
            "",
            '<span class="apcore-count is-{}">{}{}<span class="visually-hidden"> {}</span></span>',
            [(act.style, act.sign, f"{number:,}", act.word) for act, number in totals],
        )
        gap = "" if approval.effect_complete else _("incomplete")
        return format_html('<span class="apcore-counts">{}{}</span>', listed or _("nothing"), gap)

    @admin.display(description=gettext_lazy("asked"), ordering="created_at")
    def age(self, approval: ApprovalRequest) -> SafeString:
        return labelled(_("asked"), times.ago(approval.created_at))

    @admin.display(description=gettext_lazy("expires"), ordering="expires_at")
    def expiry(self, approval: ApprovalRequest) -> SafeString | str:
        if not requests.is_open(approval):
            return NOTHING
        return labelled(_("expires"), times.until(approval.expires_at))

    # -- the page ------------------------------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        verbs = {
            "approve": self.approve_view,
            "reject": self.reject_view,
            "cancel": self.cancel_view,
            "remeasure": self.remeasure_view,
            "state": self.state_view,
        }
        mine = [
            path(f"<uuid:object_id>/{name}/", self.admin_site.admin_view(view), name=f"{_PREFIX}_{name}")
            for name, view in verbs.items()
        ]
        return [*mine, *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return self._page(request, self._visible(request, object_id), extra_context=extra_context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The history of a request is its audit trail, which the page shows."""
        return HttpResponseRedirect(f"{page_url(self._visible(request, object_id))}#apcore-trail")

    def approve_view(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        return self._act(request, object_id, _approve, DecisionForm(request.POST))

    def reject_view(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        return self._act(request, object_id, _reject, DecisionForm(request.POST))

    def cancel_view(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        return self._act(request, object_id, _cancel, ReasonForm(request.POST))

    def remeasure_view(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        return self._act(request, object_id, _remeasure, ReasonForm(request.POST))

    def state_view(self, request: HttpRequest, object_id: UUID) -> JsonResponse:
        """What an open page asks every few seconds, to notice what others did."""
        return JsonResponse({"state": state(self._visible(request, object_id))})

    def _act(self, request: HttpRequest, object_id: UUID, verb: Verb, form: DecisionForm | ReasonForm) -> HttpResponse:
        approval = self._visible(request, object_id)
        if request.method != "POST":
            response = self._page(request, approval, refusals.not_posted(), status=HTTPStatus.METHOD_NOT_ALLOWED)
            response["Allow"] = "POST"
            return response
        user = cast(User, request.user)
        if not form.is_valid():
            return self._page(request, approval, refusals.bad_form(form), form, HTTPStatus.BAD_REQUEST)
        try:
            done = verb(object_id, user, form.cleaned_data)
        except ModuleError as error:
            approval = self._visible(request, object_id)
            said = refusals.refusal(error, queries.decisions(approval), user)
            return self._page(request, approval, said, form, refusals.status_of(error))
        messages.success(request, done)
        return HttpResponseRedirect(page_url(approval))

    def _page(
        self,
        request: HttpRequest,
        approval: ApprovalRequest,
        said: Statement | None = None,
        typed: DecisionForm | ReasonForm | None = None,
        status: int = HTTPStatus.OK,
        extra_context: dict[str, Any] | None = None,
    ) -> TemplateResponse:
        user = cast(User, request.user)
        page = ApprovalPage(approval, user, request.GET, _form(approval, typed), said)
        context = {
            **self.admin_site.each_context(request),
            "title": approval.module_id,
            "opts": self.opts,
            "original": approval,
            "media": self.media,
            "page": page,
            "has_view_permission": True,
            "is_nav_sidebar_enabled": False,
            "can_see_audit": user.has_perm("django_apcore.view_auditentry"),
            **(extra_context or {}),
        }
        request.current_app = self.admin_site.name
        template = "admin/django_apcore/approvalrequest/change_form.html"
        return TemplateResponse(request, template, context, status=status)

    def _visible(self, request: HttpRequest, object_id: str | UUID) -> ApprovalRequest:
        """Read a request that this person may see. Raises Http404 and PermissionDenied."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        try:
            approval = queries.find(object_id)
        except ValidationError:
            approval = None
        if approval is None:
            raise Http404(_("There is no such approval request."))
        return approval


def _form(approval: ApprovalRequest, typed: DecisionForm | ReasonForm | None) -> DecisionForm:
    """A form for the effect that is shown now, with the reason that was typed; a confirmation has to be given again."""
    reason = typed.data.get("reason", "") if isinstance(typed, DecisionForm) else ""
    return DecisionForm(initial={"seen_digest": approval.effect_digest, "reason": reason})


def _approve(object_id: UUID, user: User, given: dict[str, Any]) -> str:
    approval = services.approve(object_id, actor=user, channel="admin", **given)
    if approval.policy is None or approval.policy.execute_on_approval:
        return _("Approved. A worker runs it now.")
    return _("Approved. The caller may run it now.")


def _reject(object_id: UUID, user: User, given: dict[str, Any]) -> str:
    services.reject(object_id, actor=user, channel="admin", reason=given["reason"], seen_digest=given["seen_digest"])
    return _("Rejected. Nothing will be changed.")


def _cancel(object_id: UUID, user: User, given: dict[str, Any]) -> str:
    services.cancel(object_id, actor=user, reason=given["reason"])
    return _("Cancelled. Nothing will be changed.")


def _remeasure(object_id: UUID, user: User, given: dict[str, Any]) -> str:
    before = ApprovalRequest.objects.values_list("effect_digest", flat=True).get(pk=object_id)
    if services.remeasure(object_id, actor=user).effect_digest == before:
        return _("Measured again: the effect is still the same.")
    return _("Measured again: the effect has changed. What you see now is what it would be.")
