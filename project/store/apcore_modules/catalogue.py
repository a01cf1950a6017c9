"""Finding music, and what it costs."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Any

from django.db.models import DecimalField, ExpressionWrapper, F, Q
from django.db.models.functions import Round
from pydantic import BaseModel, ConfigDict, Field

from apcore import Context, ModuleAnnotations, deep_merge_chunks, module
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


class ExportInputs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    genre: str = Field(min_length=1, description="Name of the genre, for example Opera")


class ExportedAlbum(BaseModel):
    title: str
    artist: str
    tracks: list[str]


class Exported(BaseModel):
    genre: str
    albums: dict[str, ExportedAlbum] = Field(default_factory=dict, description="By the number of the album")
    tracks: int


class ExportCatalogue:
    """List the tracks of a genre, album by album."""

    module_id = "store.catalogue.export"
    description = "List the tracks of a genre, album by album."
    tags = ("catalogue",)
    annotations = ModuleAnnotations(readonly=True, idempotent=True, streaming=True, open_world=False)
    input_schema = ExportInputs
    output_schema = Exported

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        return deep_merge_chunks(self.stream(inputs, context))

    def stream(self, inputs: dict[str, Any], context: Context) -> Iterator[dict[str, Any]]:
        genre, tracks = inputs["genre"], 0
        if not Genre.objects.filter(name=genre).exists():
            raise NotInStoreError("genre", genre)
        of_genre = Track.objects.filter(genre__name=genre).select_related("album__artist").order_by("album", "pk")
        for album, group in groupby(of_genre.iterator(), key=attrgetter("album")):
            names = [track.name for track in group]
            tracks += len(names)
            yield {"albums": {str(album.pk): {"title": album.title, "artist": album.artist.name, "tracks": names}}}
        yield {"genre": genre, "tracks": tracks}
