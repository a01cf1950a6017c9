"""Filters of the approval queue and of the outbox."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from django_apcore.admin.bases import AnyModelAdmin
from django_apcore.admin.presenters.requests import status_word
from django_apcore.models import ApprovalRequest, OutboxMessage

Status = ApprovalRequest.Status
_ALL = "all"


class StatusFilter(SimpleListFilter):
    """The queue opens on what waits for a decision."""

    title = _("status")
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: AnyModelAdmin) -> list[tuple[str, Any]]:
        others = [(status.value, status_word(status)) for status in Status if status != Status.PENDING]
        return [(_ALL, _("all")), *others]

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        yield {
            "selected": self.value() is None,
            "query_string": changelist.get_query_string(remove=[self.parameter_name]),
            "display": _("waiting for a decision"),
        }
        yield from list(super().choices(changelist))[1:]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ApprovalRequest]) -> QuerySet[ApprovalRequest]:
        now = timezone.now()
        match self.value():
            case None:
                return queryset.filter(status=Status.PENDING, expires_at__gt=now)
            case "all":
                return queryset
            case Status.EXPIRED.value:
                unrecorded = queryset.filter(status=Status.PENDING, expires_at__lte=now)
                return queryset.filter(status=Status.EXPIRED) | unrecorded
            case status if status in Status.values:
                return queryset.filter(status=status)
        return queryset.none()


class DeliveryFilter(SimpleListFilter):
    """What waits, what has left, and what was given up."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: AnyModelAdmin) -> list[tuple[str, Any]]:
        return [("waiting", _("waits")), ("delivered", _("delivered")), ("abandoned", _("given up"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[OutboxMessage]) -> QuerySet[OutboxMessage]:
        match self.value():
            case "waiting":
                return queryset.filter(delivered_at=None, abandoned_at=None)
            case "delivered":
                return queryset.exclude(delivered_at=None)
            case "abandoned":
                return queryset.exclude(abandoned_at=None)
        return queryset
