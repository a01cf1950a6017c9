"""Months add up, before and after a customer's invoices are gone."""

from datetime import date
from decimal import Decimal

import pytest

from project.store.accounting import MonthFigures, keep_totals_of, month_figures, months
from project.store.models import Customer, Invoice, Refund

pytestmark = pytest.mark.django_db

MAY, JUNE = date(2026, 5, 1), date(2026, 6, 1)


@pytest.fixture
def customers() -> list[Customer]:
    return [
        Customer.objects.create(first_name=name, last_name="Test", email=f"{name}@example.com") for name in ("a", "b")
    ]


def sell(customer: Customer, day: date, total: str, refunded: str = "") -> None:
    invoice = Invoice.objects.create(customer=customer, issued_on=day, total=Decimal(total))
    if refunded:
        Refund.objects.create(invoice=invoice, amount=Decimal(refunded), reason="-", idempotency_key=f"{invoice.pk}")


def figures(month: date, invoices: int, revenue: str, refunded: str = "0.00") -> MonthFigures:
    return MonthFigures(month, invoices, Decimal(revenue), Decimal(refunded))


def test_nothing_was_sold() -> None:
    assert months() == []
    assert month_figures(MAY) == figures(MAY, 0, "0.00")


def test_a_month_is_its_invoices_and_their_refunds(customers: list[Customer]) -> None:
    sell(customers[0], date(2026, 5, 1), "1.10", refunded="0.10")
    sell(customers[1], date(2026, 5, 31), "2.20")
    sell(customers[1], date(2026, 6, 1), "0.30")
    assert months() == [MAY, JUNE]
    assert month_figures(MAY) == figures(MAY, 2, "3.30", "0.10")
    assert month_figures(JUNE) == figures(JUNE, 1, "0.30")


def test_months_stay_the_same_when_invoices_go(customers: list[Customer]) -> None:
    first, second = customers
    for customer, day, total in ((first, 3, "1.10"), (first, 4, "2.20"), (second, 5, "0.99")):
        sell(customer, date(2026, 5, day), total, refunded="0.01")
    sell(first, date(2026, 6, 1), "25.86")
    before = [month_figures(month) for month in months()]

    assert keep_totals_of(first) == [figures(MAY, 2, "3.30", "0.02"), figures(JUNE, 1, "25.86")]
    first.invoices.all().delete()
    assert [month_figures(month) for month in months()] == before
    keep_totals_of(second)
    second.invoices.all().delete()
    assert [month_figures(month) for month in months()] == before
