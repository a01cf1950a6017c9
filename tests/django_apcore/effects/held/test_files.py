"""Files of storages: a preview leaves none behind, a commit keeps them, and what is deleted is there until then."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, InMemoryStorage, Storage, storages
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.db import transaction
from django.db.models import FileField
from django.db.models.fields.files import FieldFile
from django.test import override_settings

from apcore.approval import EffectDriftError
from django_apcore.effects import OutsideEffectError, governed
from tests.django_apcore.effects.runs import execute, execute_approved, only_change, preview
from tests.matrix.models import Document, Setting

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")


@pytest.fixture(params=[FileSystemStorage, InMemoryStorage])
def storage(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Storage]:
    """A storage that holds `old.txt`, at a place that is none for temporary files."""
    place = Path(settings.VAR_DIR) / f"test-media-{tmp_path_factory.mktemp('media').parent.name}"
    storage = request.param(location=place)
    storage.save("old.txt", ContentFile(b"as it was"))
    yield storage
    for name in storage.listdir("")[1]:
        storage.delete(name)
    for name in storage.listdir("")[0]:
        storage.delete(name)
    with suppress(FileNotFoundError):
        place.rmdir()


on_disk = pytest.mark.parametrize("storage", [FileSystemStorage], indirect=True)


def names(storage: Storage) -> set[str]:
    return set(storage.listdir("")[1])


def content(storage: Storage, name: str) -> bytes:
    with storage.open(name) as file:
        return bytes(file.read())


def attached(storage: Storage, document: Document, name: str = "") -> FieldFile:
    """A file of a model: its field has the place of the title."""
    field = FileField(storage=storage)
    field.set_attributes_from_name("title")
    return FieldFile(document, field, name)


def test_a_preview_leaves_no_file_behind_and_shows_it(storage: Storage) -> None:
    def write() -> None:
        attached(storage, Document()).save("new.txt", ContentFile(b"hello"))
        assert content(storage, "new.txt") == b"hello"

    record = preview(write)
    assert names(storage) == {"old.txt"}
    assert record.complete
    assert record.counts == {"file:insert": 1, "matrix.Document:insert": 1}
    file = record.changes[1]
    assert (file.target, file.summary) == ("file:new.txt", "Save file new.txt (5 bytes)")
    assert file.after["bytes"] == 5
    assert execute(write).digest == record.digest
    assert content(storage, "new.txt") == b"hello"
    assert Document.objects.filter(title="new.txt").count() == 1


def test_another_content_is_another_effect(storage: Storage) -> None:
    def write(text: bytes) -> None:
        storage.save("new.txt", ContentFile(text))

    record = preview(lambda: write(b"hello"))
    with pytest.raises(EffectDriftError):
        execute_approved(lambda: write(b"other"), record.digest)
    assert names(storage) == {"old.txt"}


def test_a_run_that_fails_leaves_no_file_behind(storage: Storage) -> None:
    with pytest.raises(ZeroDivisionError):
        execute(lambda: (storage.save("new.txt", ContentFile(b"hello")), 1 / 0))
    assert names(storage) == {"old.txt"}


def test_a_name_that_is_taken_becomes_the_same_other_name_every_time(storage: Storage) -> None:
    saved: list[str] = []

    def write() -> None:
        saved.extend(storage.save("old.txt", ContentFile(b"hello")) for _ in range(2))

    record = preview(write)
    assert execute(write).digest == record.digest
    assert saved[:2] == saved[2:]
    assert len(set(saved)) == 2
    assert all(re.fullmatch(r"old_[A-Z2-7]{7}\.txt", name) for name in saved)
    assert names(storage) == {"old.txt", *saved}
    assert content(storage, "old.txt") == b"as it was"


def test_a_name_may_be_taken_often_also_in_a_directory(storage: Storage) -> None:
    def write() -> None:
        storage.save("deep/old.txt", ContentFile(b"hello"))

    digests = [(preview(write).digest, execute(write).digest) for _ in range(4)]
    taken = storage.listdir("deep")[1]
    for name in taken:
        storage.delete(f"deep/{name}")
    assert len(taken) == 4
    assert all(one == other for one, other in digests)
    assert len(set(digests)) == 4


def test_what_is_deleted_is_there_until_the_commit(storage: Storage) -> None:
    def write() -> None:
        attached(storage, Document(), "old.txt").delete(save=False)
        assert storage.exists("old.txt")

    record = preview(write)
    assert record.destructive
    assert only_change(record).target == "file:old.txt"
    with pytest.raises(ZeroDivisionError):
        execute(lambda: (write(), 1 / 0))
    assert names(storage) == {"old.txt"}
    with transaction.atomic():
        execute(write)
        assert names(storage) == {"old.txt"}
    assert names(storage) == set()


def test_what_the_run_has_saved_it_may_delete_itself(storage: Storage) -> None:
    def write() -> None:
        storage.delete(storage.save("new.txt", ContentFile(b"hello")))
        assert not storage.exists("new.txt")
        storage.delete("nothing.txt")

    record = execute(write)
    assert record.complete
    assert record.total == 0


def test_a_name_that_is_about_to_be_free_cannot_be_taken(storage: Storage) -> None:
    def write() -> None:
        storage.delete("old.txt")
        storage.save("old.txt", ContentFile(b"hello"))

    with pytest.raises(OutsideEffectError, match="which the module has deleted"):
        execute(write)
    assert content(storage, "old.txt") == b"as it was"


@on_disk
def test_what_would_be_overwritten_stays(storage: FileSystemStorage) -> None:
    class Overwriting(FileSystemStorage):
        def get_available_name(self, name: str, max_length: int | None = None) -> str:
            return name

    overwriting = Overwriting(location=storage.location)
    with governed(commit=True) as run, pytest.raises(OutsideEffectError, match="which would be overwritten"):
        overwriting.save("old.txt", ContentFile(b"hello"))
    assert content(storage, "old.txt") == b"as it was"
    assert not run.record.complete
    assert execute(lambda: overwriting.save("new.txt", ContentFile(b"hello"))).complete


def test_an_upload_on_disk_is_moved_into_place(storage: Storage) -> None:
    def write() -> None:
        with TemporaryUploadedFile("new.txt", "text/plain", 5, "utf-8") as upload:
            upload.write(b"hello")
            upload.seek(0)
            storage.save("deep/new.txt", upload)

    record = preview(write)
    assert not storage.exists("deep/new.txt")
    assert execute(write).digest == record.digest
    assert content(storage, "deep/new.txt") == b"hello"
    storage.delete("deep/new.txt")


@on_disk
def test_the_default_storage_is_one_like_any(storage: FileSystemStorage) -> None:
    with override_settings(MEDIA_ROOT=storage.location):
        record = preview(lambda: storages["default"].save("new.txt", ContentFile(b"hello")))
    assert only_change(record).target == "file:new.txt"
    assert names(storage) == {"old.txt"}


def test_files_and_rows_stay_together_when_the_commit_fails(storage: Storage) -> None:
    def refuse(record: Any) -> None:
        raise EffectDriftError(record)

    with pytest.raises(EffectDriftError), governed(commit=True, last=refuse):
        storage.save("new.txt", ContentFile(b"hello"))
    assert names(storage) == {"old.txt"}
    assert Setting.objects.get(key="k1").value == "1"


def test_outside_of_runs_storages_are_as_ever(storage: Storage) -> None:
    names_in_runs: list[str] = []
    preview(lambda: names_in_runs.append(storage.save("old.txt", ContentFile(b"hello"))))
    assert storage.save("new.txt", ContentFile(b"hello")) == "new.txt"
    assert storage.save("old.txt", ContentFile(b"hello")) not in ("old.txt", *names_in_runs)
    storage.delete("old.txt")
    assert not storage.exists("old.txt")
