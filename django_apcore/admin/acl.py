"""Access rules: an ordered list in which the first enabled rule that matches decides."""

import json
from typing import Any, cast

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Max, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_apcore import services
from django_apcore.admin.bases import NOTHING, Admin, dotted, status_badge
from django_apcore.admin.forms import ACLRuleForm, ListedRuleForm
from django_apcore.conf import get_settings
from django_apcore.models import ACLRule


@admin.register(ACLRule)
class ACLRuleAdmin(Admin):
    form = ACLRuleForm
    list_display = ["name", "position", "verdict", "from_callers", "to_targets", "when", "enabled"]
    list_editable = ["position", "enabled"]
    list_filter = ["effect", "enabled"]
    search_fields = ["description", "callers", "targets"]
    ordering = ["position", "pk"]

    def get_changelist_form(self, request: HttpRequest, **kwargs: Any) -> type[ListedRuleForm]:
        return ListedRuleForm

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        known = {"acl_file": get_settings().acl_file, "default_effect": get_settings().acl_default_effect}
        return super().changelist_view(request, {**known, **(extra_context or {})})

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """A new rule goes to the end, where it overrules nothing."""
        last = ACLRule.objects.aggregate(last=Max("position"))["last"] or 0
        return {"position": last + 1, **super().get_changeform_initial_data(request)}

    def save_model(self, request: HttpRequest, obj: ACLRule, form: Any, change: bool) -> None:
        services.save_rule(obj, actor=cast(User, request.user))

    def delete_model(self, request: HttpRequest, obj: ACLRule) -> None:
        services.delete_rule(obj, actor=cast(User, request.user))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ACLRule]) -> None:
        for rule in queryset:
            services.delete_rule(rule, actor=cast(User, request.user))

    @admin.display(description=gettext_lazy("rule"))
    def name(self, rule: ACLRule) -> str:
        return rule.description or _("Rule {number}").format(number=rule.pk)

    @admin.display(description=gettext_lazy("effect"), ordering="effect")
    def verdict(self, rule: ACLRule) -> SafeString:
        style, sign = ("good", "✓") if rule.effect == ACLRule.Effect.ALLOW else ("bad", "✕")

        return status_badge(style, sign, rule.get_effect_display())

    @admin.display(description=gettext_lazy("callers"))
    def from_callers(self, rule: ACLRule) -> SafeString:
        return _lines(rule.callers)

    @admin.display(description=gettext_lazy("targets"))
    def to_targets(self, rule: ACLRule) -> SafeString:
        return _lines(rule.targets)

    @admin.display(description=gettext_lazy("conditions"))
    def when(self, rule: ACLRule) -> SafeString | str:
        return _lines([f"{name}: {json.dumps(value)}" for name, value in (rule.conditions or {}).items()]) or NOTHING


def _lines(patterns: list[Any]) -> SafeString:
    return format_html_join("", "<code>{}</code><br>", [(dotted(str(pattern)),) for pattern in patterns])
