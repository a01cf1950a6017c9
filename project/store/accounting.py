"""Revenue by month. A month's figures are those of its invoices plus what erased invoices left in AccountingTotal."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.db.models import Count, F, QuerySet, Sum
from django.db.models.functions import TruncMonth

from project.store.models import AccountingTotal, Customer, Invoice, Refund

NOTHING = Decimal("0.00")


@dataclass(frozen=True, slots=True)
class MonthFigures:
    month: date
    invoices: int
    revenue: Decimal
    refunded: Decimal


def months() -> list[date]:
    """The first days of all months in which something was sold, oldest first."""
    of_invoices = Invoice.objects.order_by().values_list(TruncMonth("issued_on"), flat=True).distinct()
    return sorted({*of_invoices, *AccountingTotal.objects.values_list("month", flat=True)})


def month_figures(month: date) -> MonthFigures:
    in_month = {"issued_on__year": month.year, "issued_on__month": month.month}
    live = next(_figures_by_month(Invoice.objects.filter(**in_month)), MonthFigures(month, 0, NOTHING, NOTHING))
    kept = AccountingTotal.objects.filter(month=month).first() or AccountingTotal(month=month)
    return MonthFigures(
        month=month,
        invoices=live.invoices + kept.invoices,
        revenue=live.revenue + kept.revenue,
        refunded=live.refunded + kept.refunded,
    )


def keep_totals_of(customer: Customer) -> list[MonthFigures]:
    """Add the customer's invoices to the totals of their months, so that they can go; returns what was added."""
    added = list(_figures_by_month(Invoice.objects.filter(customer=customer)))
    for figures in added:
        AccountingTotal.objects.get_or_create(month=figures.month)
        AccountingTotal.objects.filter(month=figures.month).update(
            invoices=F("invoices") + figures.invoices,
            revenue=F("revenue") + figures.revenue,
            refunded=F("refunded") + figures.refunded,
        )
    return added


def _figures_by_month(invoices: QuerySet[Invoice]) -> Iterator[MonthFigures]:
    refunds = Refund.objects.filter(invoice__in=invoices).values(month=TruncMonth("invoice__issued_on"))
    refunded = {row["month"]: row["amount"] for row in refunds.annotate(amount=Sum("amount"))}
    by_month = invoices.order_by().values(month=TruncMonth("issued_on"))
    for row in by_month.annotate(count=Count("pk"), revenue=Sum("total")).order_by("month"):
        month = row["month"]
        yield MonthFigures(month, row["count"], _money(row["revenue"]), _money(refunded.get(month, NOTHING)))


def _money(amount: Decimal) -> Decimal:
    """In cents: SQLite adds as floating point, and shows it."""
    return amount.quantize(NOTHING)
