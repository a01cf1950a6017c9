"""Finding music, and what it costs."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from django.db.models import DecimalField, ExpressionWrapper, F, Q
from django.db.models.functions import Round
from pydantic import Field

from apcore import ModuleAnnotations, module
from project.store.errors import NotInStoreError
from project.store.models import Genre, Track


@dataclass(frozen=True, slots=True)
class Hit:
    track_id: int
    name: str
    artist: str
    album: str
    genre: str
    unit_price: Decimal


@dataclass(frozen=True, slots=True)
class SearchResult:
    total: int
    hits: list[Hit]


@dataclass(frozen=True, slots=True)
class Repricing:
    genre: str
    tracks: int


@module(
    id="store.catalogue.search",
    tags=["catalogue"],
    annotations=ModuleAnnotations(readonly=True, idempotent=True, open_world=False),
)
def search(
    query: Annotated[str, Field(min_length=1, max_length=100, description="Part of a track, album or artist name")],
    limit: Annotated[int, Field(ge=1, le=100, description="At most this many tracks")] = 20,
) -> SearchResult:
    """Find tracks by the name of the track, its album or its artist."""
    named = Q(name__icontains=query) | Q(album__title__icontains=query) | Q(album__artist__name__icontains=query)
    found = Track.objects.filter(named).order_by("name", "pk")
    hits = [
        Hit(
            track_id=track.pk,
            name=track.name,
            artist=track.album.artist.name,
            album=track.album.title,
            genre=track.genre.name,
            unit_price=track.unit_price,
        )
        for track in found.select_related("album__artist", "genre")[:limit]
    ]
    return SearchResult(total=found.count(), hits=hits)


@module(
    id="store.catalogue.reprice",
    tags=["catalogue", "prices"],
    annotations=ModuleAnnotations(requires_approval=True, open_world=False),
    effect="transactional",
)
def reprice(
    genre: Annotated[str, Field(min_length=1, description="Name of the genre, for example Rock")],
    percent: Annotated[int, Field(ge=-90, le=400, description="By how much; a negative number lowers the prices")],
) -> Repricing:
    """Change the price of every track of a genre by a percentage."""
    if not Genre.objects.filter(name=genre).exists():
        raise NotInStoreError("genre", genre)
    money = DecimalField(max_digits=10, decimal_places=2)
    new_price = Round(ExpressionWrapper(F("unit_price") * (Decimal(100 + percent) / 100), money), precision=2)
    changed = Track.objects.filter(genre__name=genre).update(unit_price=new_price)
    return Repricing(genre=genre, tracks=changed)
