"""The index of a policy: which rules may match a call, without a walk over all of them (DESIGN §4).

A rule is filed under a key of each of its target patterns: the ID itself, a prefix, a word that stands between dots, or
the literal head of a more general pattern. Where many rules share a key they are filed by their callers once more. The
index only proposes: whoever asks matches the patterns of the proposed rules and so decides nothing by it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from heapq import merge
from itertools import chain, groupby
from typing import Final, Generic, NamedTuple, TypeVar

from apcore.acl.patterns import alternatives

T = TypeVar("T")
Numbers = tuple[int, ...]


class Kind(Enum):
    """What a key says about the IDs under it. Only the first two say all that their pattern says."""

    EXACT = "is the ID"
    PREFIX = "is how the ID starts"
    HEAD = "is how the ID starts, and the pattern goes on"
    WORD = "stands between the dots of the ID, and the pattern says more"


class Key(NamedTuple):
    kind: Kind
    text: str

    @property
    def is_whole(self) -> bool:
        return self.kind in (Kind.EXACT, Kind.PREFIX)


Choices = tuple[Key, ...]
"""The keys under any one of which a pattern can be filed."""

ANYTHING: Final = Key(Kind.PREFIX, "")
UNKNOWN: Final = Key(Kind.HEAD, "")

# Up to here sorting all is quicker than merging, which gives the first without looking at the rest.
_SHORT: Final = 100


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A rule as the index sees it; without conditions it is final: where it matches no rule behind it counts."""

    number: int
    callers: Sequence[Choices]
    targets: Sequence[Choices]
    is_final: bool


class Index:
    """Proposes rules by number, in their order; every rule that matches is among them, or stands behind a final one."""

    __slots__ = ("_by_target",)

    def __init__(self, entries: Iterable[Entry]) -> None:
        # Rules with the same long lists of targets would repeat their callers under each of them.
        finder = cache(_finder)
        filed = _filed(list(entries), lambda entry: entry.targets)
        self._by_target = _Table({key: finder(tuple(each), key.is_whole) for key, each in filed.items()})

    def candidates(self, caller: str, target: str) -> Iterable[int]:
        """The numbers of the rules that may match, ascending and each once."""
        found = [numbers for find in self._by_target.find(target) for numbers in find(caller)]
        if len(found) < 2:
            return found[0] if found else ()
        if sum(map(len, found)) <= _SHORT:
            return sorted({*chain.from_iterable(found)})
        return (number for number, _ in groupby(merge(*found)))


def keys_of(patterns: Sequence[str], *, caller_is_system: bool = False) -> Sequence[Choices]:
    """The keys of an array, one tuple of choices for each pattern; none if the array matches nothing."""
    positive = alternatives(patterns, caller_is_system=caller_is_system)
    if positive is None:
        return [(UNKNOWN,)]
    return [(ANYTHING,)] if any(set(each) == {"*"} for each in positive) else [_choices(each) for each in positive]


def _choices(pattern: str) -> Choices:
    head, *rest = pattern.split("*")
    if not rest:
        return (Key(Kind.EXACT, pattern),)
    if not any(rest):
        return (Key(Kind.PREFIX, head),)
    # A dot on both sides makes a word; the end of the pattern is as good as a dot.
    words = [word for part in [*rest[:-1], f"{rest[-1]}."] for word in part.split(".")[1:-1]]
    return (*(Key(Kind.WORD, word) for word in words), Key(Kind.HEAD, head))


def _filed(entries: Sequence[Entry], side: Callable[[Entry], Sequence[Choices]]) -> Mapping[Key, Sequence[Entry]]:
    """The entries by key. Of the keys that a pattern can have the rarest tells most."""
    frequency = Counter(key for entry in entries for choices in side(entry) for key in choices)
    filed = defaultdict(list)
    for entry in entries:
        for key in {min(choices, key=frequency.__getitem__) for choices in side(entry)}:
            filed[key].append(entry)
    return filed


def _finder(entries: tuple[Entry, ...], all_match: bool) -> Callable[[str], Sequence[Numbers]]:
    """A function from the caller to the numbers of the entries, of which all or some match the target."""
    if len(entries) == 1:
        only = [(entries[0].number,)]
        return lambda caller: only
    filed = _filed(entries, lambda entry: entry.callers)
    return _Table(
        {
            key: _reachable(each) if all_match and key.is_whole else tuple(entry.number for entry in each)
            for key, each in filed.items()
        }
    ).find


def _reachable(entries: Sequence[Entry]) -> Numbers:
    """The numbers up to the first entry that always decides. All of them match whenever one of them does."""
    final = next((position for position, entry in enumerate(entries, 1) if entry.is_final), None)
    return tuple(entry.number for entry in entries[:final])


class _Table(Generic[T]):
    """Values under keys, found by an ID."""

    __slots__ = ("_exact", "_starts", "_words")

    def __init__(self, values: Mapping[Key, T]) -> None:
        self._exact = {key.text: value for key, value in values.items() if key.kind is Kind.EXACT}
        self._words = {key.text: value for key, value in values.items() if key.kind is Kind.WORD}
        starts = defaultdict(list)
        for key, value in values.items():
            if key.kind in (Kind.PREFIX, Kind.HEAD):
                starts[key.text].append(value)
        self._starts = _Trie(starts)

    def find(self, name: str) -> Sequence[T]:
        """The values of all keys that the ID satisfies; a word that stands in it twice counts twice."""
        found = self._starts.find(name)
        if name in self._exact:
            found = (*found, self._exact[name])
        if self._words:
            found = (*found, *[self._words[word] for word in name.split(".") if word in self._words])
        return found


class _Trie(Generic[T]):
    """Values under prefixes: the prefixes in order, and for each the place of the next shorter one inside it."""

    __slots__ = ("_found", "_outer", "_prefixes")

    def __init__(self, values: Mapping[str, Sequence[T]]) -> None:
        self._prefixes = sorted(values)
        self._outer: list[int] = []
        self._found: list[tuple[T, ...]] = []
        for place, prefix in enumerate(self._prefixes):
            outer = self._longest(prefix, place - 1)
            self._outer.append(outer)
            self._found.append((*(self._found[outer] if outer >= 0 else ()), *values[prefix]))

    def find(self, name: str) -> tuple[T, ...]:
        """The values of all prefixes of the name."""
        place = self._longest(name, bisect_right(self._prefixes, name) - 1)
        return self._found[place] if place >= 0 else ()

    def _longest(self, name: str, place: int) -> int:
        """The place of the longest prefix of the name, or -1, given the place of the last that sorts before it.

        What sorts between a name and its prefix starts with that prefix too, so the way outwards meets it.
        """
        while place >= 0 and not name.startswith(self._prefixes[place]):
            place = self._outer[place]
        return place
