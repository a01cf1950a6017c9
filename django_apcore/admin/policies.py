"""Approval policies: which modules need whose signature, and for how long it may be waited for."""

from typing import Any, cast

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_apcore import services
from django_apcore.admin.bases import Admin
from django_apcore.models import ApprovalPolicy


@admin.register(ApprovalPolicy)
class ApprovalPolicyAdmin(Admin):
    list_display = [
        "name", "position", "pattern", "deciders", "expires_after", "allow_incomplete",
        "human_initiated", "execute_on_approval", "active",
    ]  # fmt: skip
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

    def save_model(self, request: HttpRequest, obj: ApprovalPolicy, form: Any, change: bool) -> None:
        services.save_policy(obj, actor=cast(User, request.user))

    def delete_model(self, request: HttpRequest, obj: ApprovalPolicy) -> None:
        services.delete_policy(obj, actor=cast(User, request.user))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ApprovalPolicy]) -> None:
        for policy in queryset:
            services.delete_policy(policy, actor=cast(User, request.user))
