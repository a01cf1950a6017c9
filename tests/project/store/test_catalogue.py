from decimal import Decimal
from typing import Any

import pytest

from apcore import deep_merge_chunks
from apcore.errors import ModuleError, SchemaValidationError
from django_apcore import runtime
from django_apcore.models import ApprovalRequest
from project.store.models import Album, Artist, Track
from tests.project.store.desk import Desk, governed, table

pytestmark = pytest.mark.django_db(databases="__all__")

REPRICE = "store.catalogue.reprice"
EXPORT = "store.catalogue.export"


@pytest.mark.parametrize(
    "inputs",
    [
        {},
        {"genre": "Rock"},
        {"genre": "Rock", "percent": "10"},
        {"genre": "Rock", "percent": 10.5},
        {"genre": "Rock", "percent": -91},
        {"genre": "Rock", "percent": True},
        {"genre": "", "percent": 10},
        {"genre": "Rock", "percent": 10, "confirm": True},
    ],
)
def test_wrong_inputs_reach_nobody(desk: Desk, inputs: dict[str, Any]) -> None:
    with pytest.raises(SchemaValidationError):
        desk.call(REPRICE, inputs)
    assert not ApprovalRequest.objects.exists()


def test_an_unknown_genre_is_told_to_the_caller_and_not_to_an_approver(desk: Desk) -> None:
    with pytest.raises(ModuleError) as refused:
        desk.call(REPRICE, {"genre": "Polka", "percent": 10})
    assert (refused.value.code, refused.value.http_status) == ("STORE_NOT_FOUND", 404)
    assert not ApprovalRequest.objects.exists()


@governed
def test_the_preview_is_what_is_committed(desk: Desk) -> None:
    before = table(Track)
    request = desk.ask(REPRICE, {"genre": "Rock", "percent": 10})
    assert table(Track) == before
    assert (request.provenance, request.effect_complete) == ("measured", True)
    assert request.effect_counts == {"store.Track:update": 3}
    shown = [(change.before, change.after) for change in request.changes.all()]
    assert shown == [({"unit_price": "0.99"}, {"unit_price": "1.09"})] * 3

    request = desk.sign(request)
    assert request.status == "consumed"
    assert request.committed_digest == request.effect_digest
    assert request.result_redacted == {"genre": "Rock", "tracks": 3}
    prices = dict(Track.objects.values_list("name", "unit_price"))
    assert prices == {
        "Song 1": Decimal("1.09"),
        "Song 2": Decimal("1.09"),
        "Song 3": Decimal("1.09"),
        "Tune": Decimal("0.99"),
    }


@governed
def test_a_price_changed_in_between_commits_nothing(desk: Desk) -> None:
    request = desk.ask(REPRICE, {"genre": "Rock", "percent": 10})
    Track.objects.filter(name="Song 1").update(unit_price="1.49")
    before = table(Track)

    request = desk.sign(request)
    assert request.status == "superseded"
    assert table(Track) == before
    successor = request.superseded_by
    assert successor.status == "pending"
    assert desk.sign(successor).status == "consumed"
    assert Track.objects.get(name="Song 1").unit_price == Decimal("1.64")


@governed
def test_what_others_change_elsewhere_does_not_matter(desk: Desk) -> None:
    request = desk.ask(REPRICE, {"genre": "Rock", "percent": 10})
    Track.objects.filter(name="Tune").update(unit_price="5.00")
    assert desk.sign(request).status == "consumed"


def test_search_finds_by_track_album_and_artist_without_approval(desk: Desk) -> None:
    assert desk.call("store.catalogue.search", {"query": "song"})["total"] == 3
    assert desk.call("store.catalogue.search", {"query": "band"})["total"] == 4
    found = desk.call("store.catalogue.search", {"query": "FIRST", "limit": 1})
    assert found["total"] == 4
    assert found["hits"] == [
        {
            "track_id": Track.objects.get(name="Song 1").pk,
            "name": "Song 1",
            "artist": "Band",
            "album": "First",
            "genre": "Rock",
            "unit_price": "0.99",
        }
    ]


def test_a_genre_is_exported_album_by_album(desk: Desk) -> None:
    other = Album.objects.create(title="Second", artist=Artist.objects.get())
    song = Track.objects.get(name="Song 3")
    song.album = other
    song.save()
    first = Album.objects.get(title="First")
    chunks = list(runtime.get().executor.stream_sync(EXPORT, {"genre": "Rock"}, desk.context))
    assert chunks == [
        {"albums": {str(first.pk): {"title": "First", "artist": "Band", "tracks": ["Song 1", "Song 2"]}}},
        {"albums": {str(other.pk): {"title": "Second", "artist": "Band", "tracks": ["Song 3"]}}},
        {"genre": "Rock", "tracks": 3},
    ]
    assert desk.call(EXPORT, {"genre": "Rock"}) == deep_merge_chunks(chunks)
    with pytest.raises(ModuleError) as refused:
        list(runtime.get().executor.stream_sync(EXPORT, {"genre": "Polka"}, desk.context))
    assert refused.value.code == "STORE_NOT_FOUND"
