from django.db import models


class Artist(models.Model):
    name = models.CharField(max_length=120)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Album(models.Model):
    title = models.CharField(max_length=160)
    artist = models.ForeignKey(Artist, models.CASCADE, related_name="albums")

    class Meta:
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title


class Genre(models.Model):
    name = models.CharField(max_length=120, unique=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class MediaType(models.Model):
    name = models.CharField(max_length=120, unique=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Track(models.Model):
    name = models.CharField(max_length=200)
    album = models.ForeignKey(Album, models.CASCADE, related_name="tracks")
    genre = models.ForeignKey(Genre, models.PROTECT, related_name="tracks")
    media_type = models.ForeignKey(MediaType, models.PROTECT, related_name="tracks")
    composer = models.CharField(max_length=220, blank=True)
    milliseconds = models.PositiveIntegerField()
    bytes = models.PositiveBigIntegerField()
    unit_price = models.DecimalField(max_digits=10, decimal_places=2)

    class Meta:
        ordering = ["name"]
        constraints = [models.CheckConstraint(condition=models.Q(unit_price__gt=0), name="store_track_has_a_price")]

    def __str__(self) -> str:
        return self.name


class Playlist(models.Model):
    name = models.CharField(max_length=120)
    tracks = models.ManyToManyField(Track, through="PlaylistTrack", related_name="playlists")

    class Meta:
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name


class PlaylistTrack(models.Model):
    playlist = models.ForeignKey(Playlist, models.CASCADE)
    track = models.ForeignKey(Track, models.CASCADE)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["playlist", "track"], name="store_track_once_per_playlist")]

    def __str__(self) -> str:
        return f"track {self.track_id} on playlist {self.playlist_id}"
