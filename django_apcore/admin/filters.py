"""Filters of the approval queue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from django_apcore.admin.bases import Admin
from django_apcore.admin.presenters.requests import status_word
from django_apcore.models import ApprovalRequest

Status = ApprovalRequest.Status
_ALL = "all"


class StatusFilter(SimpleListFilter):
    """The queue opens on what waits for a decision."""

    title = _("status")
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Admin) -> list[tuple[str, Any]]:
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
