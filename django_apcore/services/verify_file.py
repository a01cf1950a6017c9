"""Verify a file: prove, without the database, that an exported trail is as it was written."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from django_apcore.services._trail import GENESIS, SEALED, Segment, hash_of

_KEYS = frozenset(
    {"partition", "sequence", "at", "kind", "actor_id", "actor_type", "module_id", "trace_id", "subject", "data"}
    | {"previous_hash", "hash"}
)


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """The first line of a chain that does not hold."""

    file: str
    line: int
    reason: Literal["unreadable", "edited", "deleted", "reordered", "seal_forged"]
    message: str


@dataclass(frozen=True, slots=True)
class ExportedChain:
    """What the files hold of one chain. `previous_hash` is that of the entry before the first one: 64 zeros at the
    start of a chain. `is_sealed` says whether the last entry is a seal, so that nothing can be missing at the end."""

    partition: int
    first_sequence: int
    last_sequence: int
    previous_hash: str
    last_hash: str
    is_sealed: bool


@dataclass(frozen=True, slots=True)
class FileReport:
    """What `verify_files` found."""

    ok: bool
    entries: int
    chains: tuple[ExportedChain, ...] = ()
    broken: tuple[BrokenLine, ...] = ()


def verify_files(files: Iterable[Path]) -> FileReport:
    """Check every hash and every link in exported files, which are read as one, in the given order.

    A line has to be readable, to have the hash that its content gives, and to follow on from the line before it in its
    chain. What lies before the first and behind the last line of a chain is not known here: compare `previous_hash` and
    `last_hash` with the files before and behind, or with heads that were kept elsewhere. Raises OSError.
    """
    chains: dict[int, _Chain] = {}
    broken: dict[int | None, BrokenLine] = {}
    entries = 0
    for file, number, text in _lines(files):
        try:
            entry = _read(text)
        except (ValueError, RecursionError) as error:
            broken.setdefault(None, BrokenLine(file, number, "unreadable", f"The line cannot be read: {error}."))
            continue
        entries += 1
        chain = chains.setdefault(entry["partition"], _Chain(entry))
        if entry["partition"] not in broken and (found := chain.add(entry, file, number)) is not None:
            broken[entry["partition"]] = found
    read = tuple(chains[partition].report() for partition in sorted(chains))
    return FileReport(ok=not broken, entries=entries, chains=read, broken=tuple(broken.values()))


class _Chain:
    """One walk along the lines of one chain."""

    def __init__(self, first: dict[str, Any]) -> None:
        self._first = first
        self._last: dict[str, Any] | None = None
        self._last_place = ("", 0)
        self._start = first["sequence"] if first["sequence"] == 1 or first["kind"] == SEALED else None

    def add(self, entry: dict[str, Any], file: str, number: int) -> BrokenLine | None:
        if hash_of({key: value for key, value in entry.items() if key != "hash"}) != entry["hash"]:
            return BrokenLine(file, number, "edited", f"Entry {_name(entry)} is not what was written.")
        last, last_place = self._last, self._last_place
        if last is not None and entry["kind"] == SEALED and entry["hash"] == last["hash"]:
            return None  # an archive ends with the seal that the next one begins with
        self._last, self._last_place = entry, (file, number)
        if last is not None and (found := _check_link(last, last_place, entry, (file, number))) is not None:
            return found
        if entry["kind"] == SEALED:
            return self._check_seal(entry, file, number)
        return None

    def _check_seal(self, entry: dict[str, Any], file: str, number: int) -> BrokenLine | None:
        start, self._start = self._start, entry["sequence"]
        known_start = None if entry is self._first else start
        if is_true_seal(entry["data"], entry["sequence"], entry["previous_hash"], known_start):
            return None
        return BrokenLine(file, number, "seal_forged", f"Entry {_name(entry)} seals what is not there.")

    def report(self) -> ExportedChain:
        last = self._last or self._first
        return ExportedChain(
            partition=last["partition"],
            first_sequence=self._first["sequence"],
            last_sequence=last["sequence"],
            previous_hash=self._first["previous_hash"],
            last_hash=last["hash"],
            is_sealed=last["kind"] == SEALED,
        )


def is_true_seal(data: Any, sequence: int, previous_hash: str, start: int | None) -> bool:
    """Whether a seal at this place says what is before it. `start`: where its segment begins, if that is known."""
    try:
        segment = Segment.from_data(data)
    except ValueError:
        return False
    return (
        segment.last_sequence == sequence - 1
        and segment.last_hash == previous_hash
        and segment.count == segment.last_sequence - segment.first_sequence + 1
        and (start is None or segment.first_sequence == start)
    )


def _check_link(
    last: dict[str, Any], last_place: tuple[str, int], entry: dict[str, Any], place: tuple[str, int]
) -> BrokenLine | None:
    if entry["sequence"] > last["sequence"] + 1:
        gone = f"Between {_name(last)} and {_name(entry)} entries are missing."
        return BrokenLine(*place, "deleted", gone)
    if entry["sequence"] <= last["sequence"]:
        return BrokenLine(*place, "reordered", f"Entry {_name(entry)} stands behind {_name(last)}.")
    if entry["previous_hash"] != last["hash"]:
        return BrokenLine(*last_place, "edited", f"Entry {_name(last)} is not the one that {_name(entry)} follows.")
    return None


def _lines(files: Iterable[Path]) -> Iterator[tuple[str, int, bytes]]:
    for file in files:
        with file.open("rb") as opened:
            for number, text in enumerate(opened, start=1):
                yield str(file), number, text


def _read(text: bytes) -> dict[str, Any]:
    """One line. Raises ValueError for what is no entry, or is one in more than one reading."""
    entry = json.loads(text.decode("utf-8"), object_pairs_hook=_object, parse_constant=_refuse)
    if not isinstance(entry, dict) or entry.keys() != _KEYS:
        raise ValueError(f"an entry has exactly the keys {', '.join(sorted(_KEYS))}")
    whole = all(type(entry[key]) is int for key in ("partition", "sequence"))
    if not whole or not all(isinstance(entry[key], str) for key in _KEYS - {"partition", "sequence", "data"}):
        raise ValueError("partition and sequence are whole numbers, all other keys but data are texts")
    if entry["sequence"] == 1 and entry["previous_hash"] != GENESIS:
        raise ValueError("the first entry of a chain follows on from nothing")
    return entry


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _name(entry: dict[str, Any]) -> str:
    return f"{entry['partition']}/{entry['sequence']} ({entry['kind']}, {entry['subject']})"
