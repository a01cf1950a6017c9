import json
from pathlib import Path
from typing import Any

import pytest

from apcore.errors import ModuleError
from django_apcore.models import ApprovalRequest
from project.store.models import Invoice, Refund
from tests.project.store.desk import Desk

pytestmark = pytest.mark.django_db(databases="__all__")

REFUND = "store.invoices.refund"


@pytest.fixture
def inputs(desk: Desk) -> dict[str, Any]:
    return {"invoice_id": Invoice.objects.earliest("pk").pk, "amount": "1.00", "reason": "broken"}


@pytest.fixture
def paid(tmp_path: Path) -> Any:
    file = tmp_path / "payments.jsonl"
    return lambda: [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.mark.parametrize("amount", ["0.00", "-1.00", "1.001", "1,00", "abc", "1e3", 1.0, 1])
def test_an_amount_is_money(desk: Desk, inputs: dict[str, Any], amount: Any) -> None:
    with pytest.raises(ModuleError) as refused:
        desk.call(REFUND, {**inputs, "amount": amount})
    assert refused.value.code == "SCHEMA_VALIDATION_ERROR"
    assert not ApprovalRequest.objects.exists()


def test_it_cannot_be_previewed_and_says_what_is_known(desk: Desk, inputs: dict[str, Any], paid: Any) -> None:
    request = desk.ask(REFUND, inputs)
    assert (request.provenance, request.effect_complete, request.needs_confirmation) == ("none", False, True)
    assert paid() == []


def test_it_pays_once_under_the_id_of_the_approval(desk: Desk, inputs: dict[str, Any], paid: Any) -> None:
    request = desk.sign(desk.ask(REFUND, inputs))
    assert request.status == "consumed", request.failure
    (payment,) = paid()
    assert (payment["key"], payment["amount"]) == (str(request.pk), "1.00")
    assert Refund.objects.get(idempotency_key=request.pk).gateway_reference == payment["reference"]


def test_a_worker_that_died_after_paying_does_not_pay_again(desk: Desk, inputs: dict[str, Any], paid: Any) -> None:
    """The transaction is lost with the worker, the payment is not: the second run gets the first one's receipt."""
    request = desk.ask(REFUND, inputs)
    request = desk.sign(request)
    first = paid()
    Refund.objects.filter(idempotency_key=request.pk).delete()
    ApprovalRequest.objects.filter(pk=request.pk).update(status="pending", committed_digest="", result_encrypted="")
    assert desk.sign(request).status == "consumed"
    assert paid() == first
    assert Refund.objects.filter(idempotency_key=request.pk).count() == 1


def test_no_more_than_was_paid(desk: Desk, inputs: dict[str, Any], paid: Any) -> None:
    request = desk.sign(desk.ask(REFUND, {**inputs, "amount": "1.49"}))
    assert request.status == "failed"
    assert request.failure["code"] == "STORE_NOT_POSSIBLE"
    assert paid() == []


def test_a_gateway_that_does_not_answer(desk: Desk, inputs: dict[str, Any], settings: Any) -> None:
    settings.STORE_PAYMENT_GATEWAY = "http://127.0.0.1:9/"
    request = desk.sign(desk.ask(REFUND, inputs))
    assert request.status == "failed"
    assert request.failure["code"] == "STORE_PAYMENT_GATEWAY"
    assert not Refund.objects.filter(idempotency_key=request.pk).exists()
