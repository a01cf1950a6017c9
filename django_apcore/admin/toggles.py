"""Switching modules off and on."""

from typing import Any, cast

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_apcore import runtime, services
from django_apcore.admin.bases import NOTHING, Admin, dotted, labelled, status_badge
from django_apcore.admin.forms import ToggleForm
from django_apcore.admin.presenters.times import since_and_by
from django_apcore.admin.presenters.values import visible
from django_apcore.models import Toggle


@admin.register(Toggle)
class ToggleAdmin(Admin):
    """A module without a row here is on, so rows are switched and never deleted."""

    form = ToggleForm
    actions = None
    list_display = ["module", "state", "reason_shown", "changed"]
    list_filter = ["enabled"]
    list_select_related = ["updated_by"]
    search_fields = ["module_id", "reason"]

    def get_readonly_fields(self, request: HttpRequest, obj: Toggle | None = None) -> list[str]:
        return ["module_id"] if obj else []

    def get_form(self, request: HttpRequest, obj: Toggle | None = None, change: bool = False, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, obj, change=change, **kwargs)
        if obj is None:
            switched = set(Toggle.objects.values_list("module_id", flat=True))
            modules = runtime.get().registry.list(include_hidden=True)
            form.modules = tuple(sorted(module for module in modules if module not in switched))
        return form

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"enabled": False, **super().get_changeform_initial_data(request)}

    def save_model(self, request: HttpRequest, obj: Toggle, form: Any, change: bool) -> None:
        saved = services.toggle(obj.module_id, enabled=obj.enabled, actor=cast(User, request.user), reason=obj.reason)
        obj.pk = saved.pk

    @admin.display(description=gettext_lazy("module"), ordering="module_id")
    def module(self, toggle: Toggle) -> SafeString:
        return dotted(toggle.module_id)

    @admin.display(description=gettext_lazy("reason"))
    def reason_shown(self, toggle: Toggle) -> str:
        return visible(toggle.reason) or NOTHING

    @admin.display(description=gettext_lazy("changed"), ordering="updated_at")
    def changed(self, toggle: Toggle) -> SafeString:
        return labelled(_("changed"), since_and_by(toggle.updated_at, toggle.updated_by))

    @admin.display(description=gettext_lazy("state"), ordering="enabled")
    def state(self, toggle: Toggle) -> SafeString:
        if toggle.enabled:
            return status_badge("good", "✓", _("on"))
        return status_badge("bad", "✕", _("off"))
