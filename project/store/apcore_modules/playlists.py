"""Keeping playlists tidy."""

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from apcore import Context, ModuleAnnotations
from project.store.errors import NotInStoreError, NotPossibleError
from project.store.models import Playlist


class MergeInputs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    source_id: int = Field(ge=1, description="The playlist that goes away")
    target_id: int = Field(ge=1, description="The playlist that takes over its tracks")


class Merged(BaseModel):
    playlist_id: int
    name: str
    tracks: int
    tracks_added: int


class MergePlaylists:
    """Move all tracks of one playlist to another one, and delete the first."""

    module_id = "store.playlists.merge"
    description = "Move all tracks of one playlist to another one, and delete the first."
    tags: ClassVar = ["playlists"]
    annotations = ModuleAnnotations(requires_approval=True, destructive=True, open_world=False)
    effect = "transactional"
    input_schema = MergeInputs
    output_schema = Merged

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        if inputs["source_id"] == inputs["target_id"]:
            raise NotPossibleError("A playlist cannot be merged into itself", user_fixable=True)
        source, target = self.playlist(inputs["source_id"]), self.playlist(inputs["target_id"])
        before = target.tracks.count()
        target.tracks.add(*source.tracks.all())
        source.delete()
        tracks = target.tracks.count()
        merged = Merged(playlist_id=target.pk, name=target.name, tracks=tracks, tracks_added=tracks - before)
        return merged.model_dump()

    def playlist(self, pk: int) -> Playlist:
        playlist = Playlist.objects.select_for_update().filter(pk=pk).first()
        if playlist is None:
            raise NotInStoreError("playlist", pk)
        return playlist
