"""Writing to customers, and forgetting them."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from django.core.mail import EmailMessage
from django.utils import timezone
from pydantic import Field

from apcore import ModuleAnnotations, module
from project.store import accounting
from project.store.errors import NotInStoreError
from project.store.models import Customer


@dataclass(frozen=True, slots=True)
class Erasure:
    customer_id: int
    invoices: int
    revenue_kept: Decimal


@dataclass(frozen=True, slots=True)
class Notification:
    recipients: int


@module(
    id="store.customers.erase",
    tags=["customers", "privacy"],
    annotations=ModuleAnnotations(requires_approval=True, destructive=True, open_world=False),
    effect="transactional",
)
def erase(customer_id: Annotated[int, Field(ge=1, description="The customer who asked to be forgotten")]) -> Erasure:
    """Erase a customer's personal data: anonymise the customer, delete the invoices, keep the accounting totals."""
    customer = Customer.objects.select_for_update().filter(pk=customer_id, erased_at=None).first()
    if customer is None:
        raise NotInStoreError("customer", customer_id)
    kept = accounting.keep_totals_of(customer)
    customer.invoices.all().delete()
    customer.anonymise()
    customer.save()
    return Erasure(
        customer_id=customer_id,
        invoices=sum(month.invoices for month in kept),
        revenue_kept=sum((month.revenue for month in kept), accounting.NOTHING),
    )


@module(
    id="store.customers.notify",
    tags=["customers", "mail"],
    annotations=ModuleAnnotations(requires_approval=True),
    effect="transactional",
)
def notify(
    country: Annotated[str, Field(min_length=1, description="Every customer of this country is written to")],
    subject: Annotated[str, Field(min_length=1, max_length=120, pattern=r"^[^\r\n]+$")],
    body: Annotated[str, Field(min_length=1, max_length=5000)],
) -> Notification:
    """Send a mail to every customer of a country, and note when they were written to."""
    customers = list(Customer.objects.select_for_update().filter(country=country, erased_at=None))
    if not customers:
        raise NotInStoreError("customer in", country)
    for customer in customers:
        EmailMessage(subject, f"Dear {customer},\n\n{body}\n", to=[customer.email]).send()
        customer.contacted_at = timezone.now()
    Customer.objects.bulk_update(customers, ["contacted_at"])
    return Notification(recipients=len(customers))
