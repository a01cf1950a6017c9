from django.db import models

from project.store.models.catalogue import Track
from project.store.models.people import Customer


class Invoice(models.Model):
    customer = models.ForeignKey(Customer, models.CASCADE, related_name="invoices")
    issued_on = models.DateField(db_index=True)
    billing_address = models.CharField(max_length=80, blank=True)
    billing_city = models.CharField(max_length=40, blank=True)
    billing_state = models.CharField(max_length=40, blank=True)
    billing_country = models.CharField(max_length=40, blank=True)
    billing_postal_code = models.CharField(max_length=12, blank=True)
    total = models.DecimalField(max_digits=10, decimal_places=2)

    class Meta:
        ordering = ["-issued_on", "-pk"]

    def __str__(self) -> str:
        return f"invoice {self.pk} of {self.issued_on}"


class InvoiceLine(models.Model):
    invoice = models.ForeignKey(Invoice, models.CASCADE, related_name="lines")
    track = models.ForeignKey(Track, models.PROTECT, related_name="invoice_lines")
    unit_price = models.DecimalField(max_digits=10, decimal_places=2)
    quantity = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.quantity} × track {self.track_id} at {self.unit_price}"


class Refund(models.Model):
    """Money that the payment gateway has paid back; written only after the gateway said so."""

    invoice = models.ForeignKey(Invoice, models.CASCADE, related_name="refunds")
    amount = models.DecimalField(max_digits=10, decimal_places=2)
    reason = models.CharField(max_length=200)
    idempotency_key = models.CharField(max_length=100, unique=True)
    gateway_reference = models.CharField(max_length=100)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(amount__gt=0), name="store_refund_is_positive")]

    def __str__(self) -> str:
        return f"refund of {self.amount} on invoice {self.invoice_id}"


class AccountingTotal(models.Model):
    """What the erased invoices of one month came to. A month's revenue is its invoices plus this row."""

    month = models.DateField(primary_key=True, help_text="The first day of the month.")
    invoices = models.PositiveIntegerField(default=0)
    revenue = models.DecimalField(max_digits=12, decimal_places=2, default=0)
    refunded = models.DecimalField(max_digits=12, decimal_places=2, default=0)

    class Meta:
        ordering = ["month"]

    def __str__(self) -> str:
        return f"accounting total of {self.month:%Y-%m}"
