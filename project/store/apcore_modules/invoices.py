"""Paying money back."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from django.conf import settings
from django.db.models import Sum
from pydantic import Field, WithJsonSchema

from apcore import Context, ModuleAnnotations, module
from apcore.execution import RESUMED_NOTE
from project.store import gateway
from project.store.errors import NotInStoreError, NotPossibleError, PaymentGatewayError
from project.store.models import Invoice, Refund

# Text, so that no caller's floating point comes between the approver and the cent; never zero, never negative.
Amount = Annotated[
    Decimal,
    WithJsonSchema(
        {
            "type": "string",
            "pattern": "^(0\\.(0[1-9]|[1-9][0-9])|[1-9][0-9]{0,7}(\\.[0-9]{2})?)$",
            "description": "How much to pay back, for example 0.99",
        }
    ),
]


@dataclass(frozen=True, slots=True)
class Refunded:
    invoice_id: int
    amount: Decimal
    gateway_reference: str


@module(
    id="store.invoices.refund",
    tags=["invoices", "payments"],
    annotations=ModuleAnnotations(requires_approval=True, idempotent=True),
    metadata={
        "x-compensation": "Charge the card again, which needs the customer's consent. The gateway takes nothing back."
    },
)
def refund(
    context: Context,
    invoice_id: Annotated[int, Field(ge=1)],
    amount: Amount,
    reason: Annotated[str, Field(min_length=1, max_length=200)],
) -> Refunded:
    """Pay part or all of an invoice back to the customer's card, through the payment gateway."""
    invoice = Invoice.objects.select_for_update().filter(pk=invoice_id).first()
    if invoice is None:
        raise NotInStoreError("invoice", invoice_id)
    if amount > still_refundable(invoice):
        raise NotPossibleError(f"Only {still_refundable(invoice)} of invoice {invoice_id} can still be paid back")
    key = idempotency_key(context)
    receipt = pay_back(invoice, amount, key)
    Refund.objects.create(
        invoice=invoice, amount=amount, reason=reason, idempotency_key=key, gateway_reference=receipt.reference
    )
    return Refunded(invoice_id=invoice_id, amount=amount, gateway_reference=receipt.reference)


def still_refundable(invoice: Invoice) -> Decimal:
    return invoice.total - (invoice.refunds.aggregate(paid=Sum("amount"))["paid"] or Decimal(0))


def pay_back(invoice: Invoice, amount: Decimal, key: str) -> gateway.Receipt:
    provider = gateway.connect(settings.STORE_PAYMENT_GATEWAY)
    try:
        return provider.refund(charge=f"invoice-{invoice.pk}", amount=amount, idempotency_key=key)
    except gateway.GatewayRefusedError as error:
        raise NotPossibleError("The payment gateway refused the refund") from error
    except gateway.GatewayUnavailableError as error:
        raise PaymentGatewayError("The payment gateway did not confirm the refund") from error


def idempotency_key(context: Context) -> str:
    """One key per approval: a worker that died after paying pays nothing when the same approval runs again."""
    return str(context.data.get(RESUMED_NOTE, context.trace_id))
