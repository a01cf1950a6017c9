"""The store's tables in the admin: every page opens, and what operations write is not edited by hand."""

from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from project.store.models import AccountingTotal, InvoiceLine, PlaylistTrack, Refund

pytestmark = pytest.mark.django_db

WRITTEN_BY_OPERATIONS = (AccountingTotal, Refund)
MODELS = [model for model in apps.get_app_config("store").get_models() if model not in (InvoiceLine, PlaylistTrack)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_page_opens(model: Any, store: None, admin_client: Client) -> None:
    if model is AccountingTotal:
        AccountingTotal.objects.create(month="2026-05-01")
    name = f"admin:store_{model._meta.model_name}"
    row = model.objects.first()
    pages = [reverse(f"{name}_changelist")]
    if row is not None:
        pages.append(reverse(f"{name}_change", args=[row.pk]))
    for page in pages:
        assert admin_client.get(page).status_code == 200
    expected = 403 if model in WRITTEN_BY_OPERATIONS else 200
    assert admin_client.get(reverse(f"{name}_add")).status_code == expected


def test_money_that_was_paid_out_cannot_be_edited(store: None, admin_client: Client) -> None:
    refund = Refund.objects.get()
    for page in ("change", "delete"):
        answer = admin_client.post(reverse(f"admin:store_refund_{page}", args=[refund.pk]), {"amount": "9.99"})
        assert answer.status_code == 403
    assert str(Refund.objects.get().amount) == "0.50"


def test_the_start_page_leads_to_what_somebody_may_see(admin_client: Client, client: Client) -> None:
    queue = reverse("admin:django_apcore_approvalrequest_changelist")
    clerk = User.objects.create_user("clerk", is_staff=True)
    client.force_login(clerk)

    assert f'href="{queue}"' in admin_client.get("/admin/").content.decode()
    page = client.get("/admin/").content.decode()
    assert queue not in page
    assert f'href="{reverse("apcore_api:docs")}"' in page
