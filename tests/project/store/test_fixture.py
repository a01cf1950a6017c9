"""The committed sample data is whole: what the store's tables say about it holds."""

import gzip
import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest
from django.db.models import F, Sum

from project.store.models import Customer, Invoice, InvoiceLine, Playlist, Track
from project.store.setup import load_music

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"


@pytest.fixture(scope="module")
def converter() -> ModuleType:
    spec = importlib.util.spec_from_file_location("convert_chinook", FIXTURES / "convert_chinook.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.django_db
def test_the_store_loads_once_and_adds_up() -> None:
    assert load_music() is True
    assert load_music() is False
    assert (Track.objects.count(), Customer.objects.count(), Invoice.objects.count()) == (3503, 59, 412)
    assert InvoiceLine.objects.count() == 2240
    assert Track.objects.filter(genre__name="Rock").count() == 1297
    assert Playlist.objects.get(pk=1).tracks.count() == 3290
    lines = Invoice.objects.annotate(lines_total=Sum(F("lines__unit_price") * F("lines__quantity")))
    assert all(invoice.total == round(invoice.lines_total, 2) for invoice in lines)


def test_the_conversion_renames_fields_and_keeps_cents(converter: ModuleType, tmp_path: Path) -> None:
    fields = {"customer": 2, "invoicedate": "2007-01-01T00:00:00Z", "billingstate": None, "total": 0.1}
    source = tmp_path / "chinook.json"
    records = [
        {"pk": 1, "model": "chinook.invoice", "fields": fields},
        {"pk": 2, "model": "chinook.customer", "fields": {"fax": None, "support_rep": None, "firstname": "Zoë"}},
    ]
    source.write_text(json.dumps(records), encoding="utf-8")
    converter.TARGET = tmp_path / "store.json.gz"
    converter.main(source)
    first = converter.TARGET.read_bytes()
    converter.main(source)
    assert converter.TARGET.read_bytes() == first
    customer, invoice = json.loads(gzip.decompress(first))
    assert customer["fields"] == {"fax": "", "support_rep": None, "first_name": "Zoë"}
    assert invoice["model"] == "store.invoice"
    assert invoice["fields"] == {"customer": 2, "issued_on": "2007-01-01", "billing_state": "", "total": "0.10"}
