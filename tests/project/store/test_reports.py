import pytest

from apcore.context import CancelToken
from apcore.errors import ExecutionCancelledError
from django_apcore import runtime
from tests.project.store.desk import Desk

pytestmark = pytest.mark.django_db(databases="__all__")

REVENUE = "store.reports.revenue"


def test_months_and_their_sum(desk: Desk) -> None:
    report = desk.call(REVENUE, {})
    assert report["months"] == [
        {"month": "2026-05-01", "invoices": 2, "revenue": "3.96", "refunded": "0.50"},
        {"month": "2026-06-01", "invoices": 2, "revenue": "3.96", "refunded": "0.00"},
    ]
    assert (report["revenue"], report["refunded"]) == ("7.92", "0.50")
    assert desk.call(REVENUE, {"year": 2025})["months"] == []


def test_progress_is_reported_month_by_month(desk: Desk) -> None:
    seen = []
    context = desk.context
    context.services = {"progress": lambda done, total, message: seen.append((done, total, message))}
    runtime.get().executor.call(REVENUE, {}, context)
    assert seen == [(1, 2, "May 2026"), (2, 2, "June 2026")]


def test_a_cancelled_report_stops(desk: Desk) -> None:
    context = desk.context
    context.cancel_token = CancelToken()
    context.services = {"progress": lambda *_: context.cancel_token.cancel("enough")}
    with pytest.raises(ExecutionCancelledError):
        runtime.get().executor.call(REVENUE, {}, context)
