import pytest

from apcore.errors import ModuleError
from project.store.models import Playlist, PlaylistTrack
from tests.project.store.desk import Desk, governed, table

pytestmark = pytest.mark.django_db(databases="__all__")

MERGE = "store.playlists.merge"


@pytest.fixture
def ids(desk: Desk) -> dict[str, int]:
    return {"source_id": Playlist.objects.get(name="Old").pk, "target_id": Playlist.objects.get(name="New").pk}


def test_not_into_itself_and_not_into_nothing(desk: Desk, ids: dict[str, int]) -> None:
    for target, code in ((ids["source_id"], "STORE_NOT_POSSIBLE"), (999, "STORE_NOT_FOUND")):
        with pytest.raises(ModuleError) as refused:
            desk.call(MERGE, {**ids, "target_id": target})
        assert refused.value.code == code


@governed
def test_the_preview_has_every_row_of_the_relation(desk: Desk, ids: dict[str, int]) -> None:
    before = table(PlaylistTrack)
    request = desk.ask(MERGE, ids)
    assert table(PlaylistTrack) == before
    assert request.effect_complete, request.effect_gaps
    assert request.effect_counts == {
        "store.Playlist:delete": 1,
        "store.PlaylistTrack:delete": 3,
        "store.PlaylistTrack:insert": 2,
    }


@governed
def test_one_playlist_with_all_tracks_is_left(desk: Desk, ids: dict[str, int]) -> None:
    request = desk.sign(desk.ask(MERGE, ids))
    assert request.status == "consumed", request.failure
    assert request.committed_digest == request.effect_digest
    assert request.result_redacted == {"playlist_id": ids["target_id"], "name": "New", "tracks": 4, "tracks_added": 2}
    (left,) = Playlist.objects.all()
    assert list(left.tracks.values_list("name", flat=True)) == ["Song 1", "Song 2", "Song 3", "Tune"]
