from typing import Any

import pytest
from django.core import mail

from apcore.errors import ModuleError
from django_apcore import services
from django_apcore.models import ApprovalRequest
from project.store.accounting import month_figures, months
from project.store.models import AccountingTotal, Customer, Invoice, InvoiceLine, Refund
from tests.project.store.desk import Desk, governed, table

pytestmark = pytest.mark.django_db(databases="__all__")

ERASE, NOTIFY = "store.customers.erase", "store.customers.notify"
EVERYTHING = (Customer, Invoice, InvoiceLine, Refund, AccountingTotal)


def ada() -> Customer:
    return Customer.objects.order_by("pk")[0]


def figures() -> list[Any]:
    return [month_figures(month) for month in months()]


class TestErase:
    def test_an_unknown_customer(self, desk: Desk) -> None:
        with pytest.raises(ModuleError) as refused:
            desk.call(ERASE, {"customer_id": 999})
        assert refused.value.code == "STORE_NOT_FOUND"
        assert not ApprovalRequest.objects.exists()

    @governed
    def test_the_preview_changes_nothing_and_says_all(self, desk: Desk) -> None:
        before = [table(model) for model in EVERYTHING]
        request = desk.ask(ERASE, {"customer_id": ada().pk})
        assert [table(model) for model in EVERYTHING] == before
        assert (request.provenance, request.effect_complete, request.effect_destructive) == ("measured", True, True)
        assert request.effect_counts == {
            "store.AccountingTotal:insert": 2,
            "store.Customer:update": 1,
            "store.Invoice:delete": 3,
            "store.InvoiceLine:delete": 6,
            "store.Refund:delete": 1,
        }

    @governed
    def test_the_person_goes_and_the_totals_stay(self, desk: Desk) -> None:
        customer, before = ada(), figures()
        request = desk.sign(desk.ask(ERASE, {"customer_id": customer.pk}))
        assert request.status == "consumed", request.failure
        assert request.committed_digest == request.effect_digest
        assert figures() == before
        assert Invoice.objects.filter(customer=customer).count() == 0
        customer.refresh_from_db()
        assert str(customer) == "Erased customer"
        assert customer.email == f"customer-{customer.pk}@erased.invalid"
        assert customer.phone == ""
        assert customer.country == "Norway"
        assert customer.erased_at is not None

    @governed
    def test_two_customers_of_one_month_share_its_total(self, desk: Desk) -> None:
        before = figures()
        for customer in Customer.objects.filter(country="Norway").order_by("pk"):
            assert desk.sign(desk.ask(ERASE, {"customer_id": customer.pk})).status == "consumed"
        assert figures() == before
        assert not Invoice.objects.exists()

    @governed
    def test_nobody_is_erased_twice(self, desk: Desk) -> None:
        desk.sign(desk.ask(ERASE, {"customer_id": ada().pk}))
        with pytest.raises(ModuleError) as refused:
            desk.call(ERASE, {"customer_id": ada().pk})
        assert refused.value.code == "STORE_NOT_FOUND"

    @governed
    def test_a_new_invoice_in_between_commits_nothing(self, desk: Desk) -> None:
        request = desk.ask(ERASE, {"customer_id": ada().pk})
        Invoice.objects.create(customer=ada(), issued_on="2026-05-30", total="0.99")
        before = [table(model) for model in EVERYTHING]
        assert desk.sign(request).status == "superseded"
        assert [table(model) for model in EVERYTHING] == before


class TestNotify:
    INPUTS = {"country": "Norway", "subject": "Sundays", "body": "We are open."}

    def test_nobody_lives_there(self, desk: Desk) -> None:
        with pytest.raises(ModuleError) as refused:
            desk.call(NOTIFY, {**self.INPUTS, "country": "Atlantis"})
        assert refused.value.code == "STORE_NOT_FOUND"

    def test_a_subject_cannot_smuggle_in_a_header(self, desk: Desk) -> None:
        with pytest.raises(ModuleError) as refused:
            desk.call(NOTIFY, {**self.INPUTS, "subject": "Hello\nBcc: everybody@example.com"})
        assert refused.value.code == "SCHEMA_VALIDATION_ERROR"

    @governed
    def test_the_preview_lists_the_mails_and_sends_none(self, desk: Desk) -> None:
        request = desk.ask(NOTIFY, self.INPUTS)
        sends = request.changes.filter(action="send")
        assert sorted(change.target for change in sends) == ["mail:ada@example.com", "mail:bo@example.com"]
        assert request.effect_counts["store.Customer:update"] == 2
        assert request.effect_complete, request.effect_gaps
        assert mail.outbox == []

    @governed
    def test_mail_leaves_after_the_commit_and_once(self, desk: Desk) -> None:
        request = desk.sign(desk.ask(NOTIFY, self.INPUTS))
        assert request.status == "consumed", request.failure
        assert request.committed_digest == request.effect_digest
        assert Customer.objects.exclude(contacted_at=None).count() == 2
        assert mail.outbox == []
        assert (services.deliver_outbox(), services.deliver_outbox()) == (2, 0)
        assert sorted(message.to for message in mail.outbox) == [["ada@example.com"], ["bo@example.com"]]

    @governed
    def test_no_mail_leaves_when_nothing_was_committed(self, desk: Desk) -> None:
        request = desk.ask(NOTIFY, self.INPUTS)
        Customer.objects.create(first_name="Di", last_name="Test", email="di@example.com", country="Norway")
        assert desk.sign(request).status == "superseded"
        assert services.deliver_outbox() == 0
        assert mail.outbox == []
