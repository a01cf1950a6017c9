"""Approval policies: which modules need whose signature, and for how long it may be waited for."""

from typing import Any, cast

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_apcore import services
from django_apcore.admin.bases import NOTHING, Admin, dotted, labelled, status_badge
from django_apcore.admin.presenters.times import duration
from django_apcore.admin.presenters.values import visible
from django_apcore.models import ApprovalPolicy


@admin.register(ApprovalPolicy)
class ApprovalPolicyAdmin(Admin):
    list_display = ["name", "order", "modules", "who_decides", "limit", "particulars", "state"]
    list_filter = ["active", "deciders"]
    list_select_related = ["deciders"]
    search_fields = ["name", "pattern"]
    ordering = ["position", "pk"]
    readonly_fields = ["revision"]
    fieldsets = [
        (None, {"fields": ["name", "active", "revision"]}),
        (gettext_lazy("Which calls"), {"fields": ["pattern", "position"]}),
        (gettext_lazy("Who decides, and when it is too late"), {"fields": ["deciders", "expires_after"]}),
        (
            gettext_lazy("What is allowed"),
            {"fields": ["allow_incomplete", "human_initiated", "execute_on_approval"]},
        ),
    ]

    def get_form(
        self, request: HttpRequest, obj: ApprovalPolicy | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        texts = {"expires_after": _("Days and hours:minutes:seconds. One day is 1 00:00:00, half an hour 00:30:00.")}
        return super().get_form(request, obj, change=change, help_texts=texts, **kwargs)

    @admin.display(description=gettext_lazy("position"), ordering="position")
    def order(self, policy: ApprovalPolicy) -> SafeString:
        return labelled(_("position"), policy.position)

    @admin.display(description=gettext_lazy("modules"), ordering="pattern")
    def modules(self, policy: ApprovalPolicy) -> SafeString:
        return format_html("<code>{}</code>", dotted(policy.pattern))

    @admin.display(description=gettext_lazy("deciders"), ordering="deciders")
    def who_decides(self, policy: ApprovalPolicy) -> SafeString:
        return labelled(_("deciders"), visible(str(policy.deciders or _("everybody who may decide"))))

    @admin.display(description=gettext_lazy("expires after"), ordering="expires_after")
    def limit(self, policy: ApprovalPolicy) -> SafeString:
        return labelled(_("expires after"), duration(policy.expires_after))

    @admin.display(description=gettext_lazy("particulars"))
    def particulars(self, policy: ApprovalPolicy) -> SafeString | str:
        """Only what is not as usual."""
        said = [
            (policy.allow_incomplete, _("incomplete effects may be approved")),
            (policy.human_initiated, _("a person has to start it")),
            (not policy.execute_on_approval, _("the caller executes it")),
        ]
        return format_html_join("", "<div>{}</div>", [(words,) for holds, words in said if holds]) or NOTHING

    @admin.display(description=gettext_lazy("state"), ordering="active")
    def state(self, policy: ApprovalPolicy) -> SafeString:
        if policy.active:
            return status_badge("good", "✓", _("active"))
        return status_badge("neutral", "–", _("off"))

    def save_model(self, request: HttpRequest, obj: ApprovalPolicy, form: Any, change: bool) -> None:
        services.save_policy(obj, actor=cast(User, request.user))

    def delete_model(self, request: HttpRequest, obj: ApprovalPolicy) -> None:
        services.delete_policy(obj, actor=cast(User, request.user))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ApprovalPolicy]) -> None:
        for policy in queryset:
            services.delete_policy(policy, actor=cast(User, request.user))
