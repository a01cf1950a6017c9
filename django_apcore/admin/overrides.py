"""Configuration values that were changed at run time: read here, and taken back one by one."""

from typing import Any, cast

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_apcore import services
from django_apcore.admin.bases import NOTHING, ReadOnlyAdmin, dotted, json_block, labelled
from django_apcore.admin.presenters.times import since_and_by
from django_apcore.admin.presenters.values import visible
from django_apcore.models import Override


@admin.register(Override)
class OverrideAdmin(ReadOnlyAdmin):
    """Values are set through `system.control.update_config`, under approval; deleting one restores the configured."""

    list_display = ["name", "shown", "reason_shown", "changed"]
    list_select_related = ["updated_by"]
    search_fields = ["key", "reason"]
    fields = ("key", "shown", "reason_shown", "updated_by", "updated_at")
    readonly_fields = fields

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(request.user.has_perm("django_apcore.delete_override"))

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        services.drop_override(obj.key, actor=cast(User, request.user))

    @admin.display(description=gettext_lazy("key"), ordering="key")
    def name(self, row: Override) -> SafeString:
        return dotted(row.key)

    @admin.display(description=gettext_lazy("reason"))
    def reason_shown(self, row: Override) -> str:
        return visible(row.reason) or NOTHING

    @admin.display(description=gettext_lazy("changed"), ordering="updated_at")
    def changed(self, row: Override) -> SafeString:
        return labelled(_("changed"), since_and_by(row.updated_at, row.updated_by))

    @admin.display(description=gettext_lazy("value"))
    def shown(self, row: Override) -> SafeString | str:
        return json_block(services.shown_value(row))
