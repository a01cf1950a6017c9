"""Webhooks, and how their deliveries went."""

from typing import Any, cast
from urllib.parse import urlsplit

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from django_apcore import services
from django_apcore.admin.bases import NOTHING, Admin, ReadOnlyAdmin, dotted, folded, labelled, status_badge
from django_apcore.admin.filters import DeliveryFilter
from django_apcore.admin.forms import WebhookForm
from django_apcore.admin.presenters.times import ago
from django_apcore.admin.presenters.values import visible
from django_apcore.models import OutboxMessage, WebhookSubscriber


@admin.register(WebhookSubscriber)
class WebhookAdmin(Admin):
    """The secret can be written and not read. The address may hold one too, so only who may change it sees it."""

    form = WebhookForm
    list_display = ["name", "state", "told", "delivered", "failed", "error"]
    list_filter = ["enabled"]
    search_fields = ["name"]
    readonly_fields = ["last_delivered_at", "last_failed_at", "failures", "last_error"]
    fieldsets = [
        (None, {"fields": ["name", "enabled", "url", "secret"]}),
        (gettext_lazy("What it is told"), {"fields": ["types", "min_severity", "modules"]}),
        (
            gettext_lazy("How it went"),
            {"fields": ["last_delivered_at", "last_failed_at", "failures", "last_error"]},
        ),
    ]

    def get_fieldsets(self, request: HttpRequest, obj: WebhookSubscriber | None = None) -> Any:
        """Who may only look sees which host is told."""
        if obj is None or self.has_change_permission(request, obj):
            return self.fieldsets
        return [(None, {"fields": ["name", "enabled", "host"]}), *self.fieldsets[1:]]

    def save_model(self, request: HttpRequest, obj: WebhookSubscriber, form: Any, change: bool) -> None:
        secret = form.cleaned_data.get("secret") or None
        services.save_webhook(obj, secret=secret, actor=cast(User, request.user))

    def delete_model(self, request: HttpRequest, obj: WebhookSubscriber) -> None:
        services.delete_webhook(obj, actor=cast(User, request.user))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[WebhookSubscriber]) -> None:
        for webhook in queryset:
            services.delete_webhook(webhook, actor=cast(User, request.user))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """What waits for a webhook goes with it, and is nobody else's to allow."""
        to_delete, counts, _perms, protected = super().get_deleted_objects(objs, request)
        return to_delete, counts, set(), protected

    @admin.display(description=gettext_lazy("host"))
    def host(self, webhook: WebhookSubscriber) -> str:
        return urlsplit(webhook.url).hostname or "–"

    @admin.display(description=gettext_lazy("what it is told"))
    def told(self, webhook: WebhookSubscriber) -> SafeString:
        patterns = format_html_join("", "<code>{}</code><br>", [(dotted(str(each)),) for each in webhook.types])
        if webhook.min_severity == WebhookSubscriber.Severity.INFO:
            return patterns
        from_severity = _("from severity {severity}").format(severity=webhook.get_min_severity_display())
        return format_html('{}<span class="apcore-quiet">{}</span>', patterns, from_severity)

    @admin.display(description=gettext_lazy("delivered"), ordering="last_delivered_at")
    def delivered(self, webhook: WebhookSubscriber) -> SafeString:
        when = webhook.last_delivered_at
        return labelled(_("delivered"), ago(when) if when else _("never"))

    @admin.display(description=gettext_lazy("failures in a row"), ordering="failures")
    def failed(self, webhook: WebhookSubscriber) -> SafeString:
        return labelled(_("failures in a row"), webhook.failures) if webhook.failures else NOTHING

    @admin.display(description=gettext_lazy("last error"))
    def error(self, webhook: WebhookSubscriber) -> SafeString | str:
        return folded(webhook.last_error)

    @admin.display(description=gettext_lazy("state"))
    def state(self, webhook: WebhookSubscriber) -> SafeString:
        if not webhook.enabled:
            return status_badge("neutral", "–", _("off"))
        if webhook.failures:
            return status_badge("bad", "✕", _("failing"))
        return status_badge("good", "✓", _("on"))


@admin.register(OutboxMessage)
class OutboxAdmin(ReadOnlyAdmin):
    """What leaves after a commit: when it left, or why it has not. Contents are encrypted and shown to nobody."""

    list_display = ["created_at", "kind", "about", "receiver", "standing", "error"]
    list_filter = ["kind", DeliveryFilter]
    list_select_related = ["subscriber"]
    search_fields = ["idempotency_key", "subject"]
    ordering = ["-created_at"]
    actions = ["try_again"]  # type: ignore[assignment]  # the base class offers none
    fields = (
        "kind", "subject", "subscriber", "idempotency_key", "created_at", "attempts", "next_attempt_at",
        "delivered_at", "abandoned_at", "last_error",
    )  # fmt: skip
    readonly_fields = fields

    def has_retry_permission(self, request: HttpRequest) -> bool:
        return cast(User, request.user).has_perm("django_apcore.change_webhooksubscriber")

    @admin.action(description=gettext_lazy("Try dead letters again"), permissions=["retry"])
    def try_again(self, request: HttpRequest, queryset: QuerySet[OutboxMessage]) -> None:
        actor = cast(User, request.user)
        tried = sum(services.retry_delivery(message, actor=actor) for message in queryset.exclude(abandoned_at=None))
        said = ngettext("%d event is tried again.", "%d events are tried again.", tried) % tried
        self.message_user(request, said, messages.SUCCESS if tried else messages.WARNING)

    @admin.display(description=gettext_lazy("subject"), ordering="subject")
    def about(self, message: OutboxMessage) -> SafeString:
        return dotted(message.subject)

    @admin.display(description=gettext_lazy("subscriber"), ordering="subscriber")
    def receiver(self, message: OutboxMessage) -> str:
        return visible(str(message.subscriber)) if message.subscriber else NOTHING

    @admin.display(description=gettext_lazy("state"), ordering="attempts")
    def standing(self, message: OutboxMessage) -> SafeString:
        tries = ngettext("%d attempt", "%d attempts", message.attempts) % message.attempts
        return format_html('{} <span class="apcore-quiet">{}</span>', self.state(message), tries)

    @admin.display(description=gettext_lazy("last error"))
    def error(self, message: OutboxMessage) -> SafeString | str:
        return folded(message.last_error)

    @admin.display(description=gettext_lazy("state"))
    def state(self, message: OutboxMessage) -> SafeString:
        if message.delivered_at is not None:
            return status_badge("good", "✓", _("delivered"))
        if message.abandoned_at is not None:
            return status_badge("bad", "✕", _("given up"))
        return status_badge("neutral", "…", _("waits"))
