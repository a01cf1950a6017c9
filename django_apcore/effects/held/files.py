"""Files of Django's storages: what a run saves is taken away again unless it is committed, what it deletes waits."""

import functools
import hashlib
import logging
from base64 import b32encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

from django.core.files.storage import FileSystemStorage, InMemoryStorage, Storage

from apcore.modules import Change
from django_apcore.effects.active import Run, active_run
from django_apcore.effects.outside.behalf import let_pass
from django_apcore.effects.outside.watch import refuse_outside

logger = logging.getLogger("django_apcore.effects")

_LENGTH_OF_SUFFIX: Final = 7


@dataclass(frozen=True, slots=True)
class HeldFile:
    """A file that was saved, or is to be deleted after the commit."""

    action: Literal["insert", "delete"]
    storage: Storage
    name: str

    def is_at(self, storage: Storage, name: str) -> bool:
        """Whether it is this file, whatever object stands for the storage."""
        return _place(self.storage, self.name) == _place(storage, name)


def hold_files() -> None:
    """Have Django's storages ask the run before they save, delete, or think of a name. Idempotent."""
    _gate(Storage, "save", _save)
    _gate(Storage, "get_alternative_name", _alternative_name)
    for storage in (FileSystemStorage, InMemoryStorage):
        _gate(storage, "delete", _delete)


@contextmanager
def taken_back_unless(commits: bool) -> Iterator[list[HeldFile]]:
    """Gives the list of what a run does to files. What it saved is removed if the block fails, or is a preview."""
    files: list[HeldFile] = []
    is_done = False
    try:
        yield files
        is_done = commits
    finally:
        if not is_done:
            for file in reversed(files):
                if file.action == "insert":
                    _remove(file)


def deletions(files: Iterable[HeldFile]) -> list[Callable[[], object]]:
    """What is to be deleted after the commit."""
    return [functools.partial(_remove, file) for file in files if file.action == "delete"]


def file_changes(files: Sequence[HeldFile]) -> list[Change]:
    """What an approver sees of them, in canonical order; the content counts by its hash."""
    return [_change(file) for file in sorted(files, key=lambda file: (file.action, file.name))]


def _change(file: HeldFile) -> Change:
    target = f"file:{file.name}"
    if file.action == "delete":
        return Change("delete", target, f"Delete file {file.name}", **{"x-kind": "file"})
    digest, size = hashlib.sha256(), 0
    with file.storage.open(file.name) as content:
        for chunk in content.chunks():
            digest.update(chunk)
            size += len(chunk)
    after = {"sha256": digest.hexdigest(), "bytes": size}
    return Change("insert", target, f"Save file {file.name} ({size:,} bytes)", after=after, **{"x-kind": "file"})


def _remove(file: HeldFile) -> None:
    try:
        file.storage.delete(file.name)
    except Exception as error:  # noqa: BLE001 - whatever the storage raises; the run is over
        logger.warning("File %s could not be deleted (%s)", file.name, type(error).__name__)


# -- the hooks --------------------------------------------------------------------------------------------------------


def _gate(owner: type, name: str, held: Callable[..., Any]) -> None:
    original = getattr(owner, name)
    if hasattr(original, "asks_run"):
        return

    @functools.wraps(original)
    def gated(storage: Any, *args: Any, **kwargs: Any) -> Any:
        run = active_run()
        if run is None:
            return original(storage, *args, **kwargs)
        return held(run, functools.partial(original, storage), storage, *args, **kwargs)

    gated.asks_run = True  # type: ignore[attr-defined]  # a mark of ours
    setattr(owner, name, gated)


def _save(
    run: Run, original: Callable[..., str], storage: Storage, name: str | None, content: Any, max_length: Any = None
) -> str:
    """Save it now, since the module may want to read it."""
    wanted = str(content.name if name is None else name).replace("\\", "/")
    if any(file.action == "delete" and file.is_at(storage, wanted) for file in run.files):
        refuse_outside(run, "file", f"{wanted}, which the module has deleted")
    if storage.exists(wanted) and storage.get_available_name(wanted, max_length=max_length) == wanted:
        refuse_outside(run, "file", f"{wanted}, which would be overwritten")
    run.names.clear()  # each file has its names from the first on, whatever was asked for before
    with let_pass("file"):
        saved: str = original(name, content, max_length=max_length)
    run.files.append(HeldFile("insert", storage, saved))
    return saved


def _delete(run: Run, original: Callable[..., None], storage: Storage, name: str) -> None:
    """Delete after the commit what was there before the run, and at once what the run has saved."""
    own = [file for file in run.files if file.action == "insert" and file.is_at(storage, name)]
    if own:
        run.files.remove(own[0])
        with let_pass("file"):
            original(name)
    elif name and storage.exists(name):
        run.files.append(HeldFile("delete", storage, name))
    else:
        original(name)  # says what is wrong


def _alternative_name(run: Run, original: Callable[..., str], storage: Storage, file_root: str, file_ext: str) -> str:
    """A name that is the same when the call is run again, where Django takes a random one."""
    if original(file_root, file_ext) == f"{file_root}{file_ext}":
        return f"{file_root}{file_ext}"  # a storage that overwrites
    key = (file_root, file_ext)
    # who asks knows the directory, and asks again for as long as the name is taken there
    run.names[key] += 1
    digest = b32encode(hashlib.sha256(f"{file_root}{file_ext}:{run.names[key]}".encode()).digest()).decode()
    return f"{file_root}_{digest[:_LENGTH_OF_SUFFIX]}{file_ext}"


def _place(storage: Storage, name: str) -> tuple[object, str]:
    try:
        return type(storage), storage.path(name)
    except (NotImplementedError, ValueError):
        return id(storage), name
