"""A small store with its real accounts, access rules and policies."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from django_apcore import runtime
from django_apcore.models import ApprovalPolicy
from project.store import setup
from project.store.models import (
    Album,
    Artist,
    Customer,
    Genre,
    Invoice,
    InvoiceLine,
    MediaType,
    Playlist,
    Refund,
    Track,
)
from tests.project.store.desk import Desk


@pytest.fixture
def store(db: None) -> None:
    """Three Rock tracks and one of Jazz, two playlists, two customers in Norway and one in Peru, four invoices."""
    album = Album.objects.create(title="First", artist=Artist.objects.create(name="Band"))
    rock, jazz = Genre.objects.create(name="Rock"), Genre.objects.create(name="Jazz")
    kind = MediaType.objects.create(name="file")
    common = {"album": album, "media_type": kind, "milliseconds": 1, "bytes": 1, "unit_price": Decimal("0.99")}
    tracks = [Track.objects.create(name=f"Song {n}", genre=rock, **common) for n in (1, 2, 3)]
    tracks.append(Track.objects.create(name="Tune", genre=jazz, **common))
    for name, listed in (("Old", tracks[:3]), ("New", tracks[2:])):
        Playlist.objects.create(name=name).tracks.add(*listed)
    for name, country in (("Ada", "Norway"), ("Bo", "Norway"), ("Cy", "Peru")):
        Customer.objects.create(
            first_name=name, last_name="Test", email=f"{name.lower()}@example.com", phone="1", country=country
        )
    ada, bo, _ = Customer.objects.order_by("pk")
    for customer, day in (
        (ada, date(2026, 5, 1)),
        (ada, date(2026, 5, 9)),
        (ada, date(2026, 6, 1)),
        (bo, date(2026, 6, 2)),
    ):
        invoice = Invoice.objects.create(customer=customer, issued_on=day, total=Decimal("1.98"))
        for track in tracks[:2]:
            InvoiceLine.objects.create(invoice=invoice, track=track, unit_price=track.unit_price, quantity=1)
    Refund.objects.create(
        invoice=Invoice.objects.earliest("pk"), amount=Decimal("0.50"), reason="-", idempotency_key="k"
    )


@pytest.fixture
def desk(store: None, settings: Any, tmp_path: Path) -> Iterator[Desk]:
    settings.STORE_PAYMENT_GATEWAY = (tmp_path / "payments.jsonl").as_uri()
    setup.ensure_groups()
    for account in setup.ACCOUNTS:
        setup.ensure_account(account, "password")
    setup.publish_rules()
    setup.publish_policies()
    # The desk executes by itself; no message for a worker.
    ApprovalPolicy.objects.update(execute_on_approval=False)
    before = runtime.replace(runtime.build())
    yield Desk(User.objects.get(username="agent"), User.objects.get(username="approver"))
    runtime.replace(before)
