"""What a measured preview costs beside the plain operation: both in a transaction that is rolled back (SQLite)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import transaction
from django.db.models import F

from apcore import ACL, ACLRule
from benchmarks.timing import Measurement, Settings, seconds_of_each
from django_apcore import runtime
from django_apcore.effects import governed
from project.store.models import Artist, PlaylistTrack, Track

SIZES = (1, 100, 3000)


def update_at_once(rows: int) -> None:
    Track.objects.filter(pk__in=_first_tracks(rows)).update(unit_price=F("unit_price") + 1)


def update_one_by_one(rows: int) -> None:
    for track in Track.objects.order_by("pk")[:rows]:
        track.unit_price += 1
        track.save(update_fields=["unit_price"])


def create_at_once(rows: int) -> None:
    Artist.objects.bulk_create(Artist(name=f"Artist {number}") for number in range(rows))


def delete_at_once(rows: int) -> None:
    chosen = list(PlaylistTrack.objects.order_by("pk").values_list("pk", flat=True)[:rows])
    PlaylistTrack.objects.filter(pk__in=chosen).delete()


OPERATIONS: tuple[Callable[[int], None], ...] = (update_at_once, update_one_by_one, create_at_once, delete_at_once)


def cases(settings: Settings) -> Iterator[Measurement]:
    for operation in OPERATIONS:
        for rows in SIZES:
            name = f"{operation.__name__.replace('_', ' ')}, {rows} rows"
            measured = f"{name}, measured"
            functions: dict[str, Callable[[], object]] = {
                name: lambda o=operation, n=rows: _plain(o, n),
                measured: lambda o=operation, n=rows: _measured(o, n),
            }
            seconds = seconds_of_each(functions, settings)
            yield Measurement(name, seconds[name])
            yield Measurement(measured, seconds[measured], compared_with=name)
    name = "validate store.catalogue.reprice of Rock"
    yield Measurement(name, seconds_of_each({name: _preview_of_the_store()}, settings)[name])


def _preview_of_the_store() -> Callable[[], object]:
    """A preview of 1,297 price changes, on the whole path from the executor down."""
    executor = runtime.build(acl=ACL([ACLRule(callers=["*"], targets=["*"], effect="allow")])).executor
    return lambda: executor.validate("store.catalogue.reprice", {"genre": "Rock", "percent": 10})


def _plain(operation: Callable[[int], None], rows: int) -> None:
    with _rolled_back():
        operation(rows)


def _measured(operation: Callable[[int], None], rows: int) -> None:
    with governed(commit=False):
        operation(rows)


@contextmanager
def _rolled_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def _first_tracks(rows: int) -> list[int]:
    return list(Track.objects.order_by("pk").values_list("pk", flat=True)[:rows])
