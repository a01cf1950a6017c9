"""Two lists of changes compared: what was approved, and what would happen now."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal

from apcore.modules import UNSET, Change
from apcore.schema import canonical_json

Verdict = Literal["same", "added", "removed", "different"]


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """One field of a target, before and after, in the first list (`was`) and in the second (`now`).

    UNSET stands where a list says nothing about the field. The name is empty for changes that have no fields.
    """

    name: str
    was_before: Any
    was_after: Any
    now_before: Any
    now_after: Any


@dataclass(frozen=True, slots=True)
class Difference:
    """What became of one change. `was` is None for an added one, and `now` for a removed one."""

    verdict: Verdict
    was: Change | None
    now: Change | None

    @property
    def target(self) -> str:
        """What is changed; a new row may have another number in the two lists."""
        change = self.now or self.was
        return change.target if change else ""

    def fields(self) -> list[FieldDifference]:
        """The fields in which the two changes differ; none unless the verdict is `different`."""
        if self.was is None or self.now is None:
            return []
        sides = [_by_name(each) for each in (self.was.before, self.was.after, self.now.before, self.now.after)]
        names = dict.fromkeys(name for side in sides for name in side)
        found = [FieldDifference(name, *(side.get(name, UNSET) for side in sides)) for name in names]
        return [
            each for each in found if _text(each.was_before, each.was_after) != _text(each.now_before, each.now_after)
        ]


def compare_changes(was: Iterable[Change], now: Iterable[Change]) -> list[Difference]:
    """Pair the changes of two lists by what they change; new rows, which have no key yet, by their content."""
    places: dict[tuple[str, str], tuple[list[Change], list[Change]]] = {}
    for side, changes in enumerate((was, now)):
        for change in changes:
            places.setdefault(_place(change), ([], []))[side].append(change)
    return [difference for old, new in places.values() for difference in _paired(old, new)]


def _paired(was: Sequence[Change], now: Sequence[Change]) -> list[Difference]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place in reversed(range(len(now))):
        places[_content(now[place])].append(place)
    same, only_was = [], []
    for change in was:
        if twins := places[_content(change)]:
            same.append(Difference("same", change, now[twins.pop()]))
        else:
            only_was.append(change)
    only_now = [now[place] for place in sorted(place for left in places.values() for place in left)]
    return same + [_difference(old, new) for old, new in zip_longest(only_was, only_now)]


def _difference(was: Change | None, now: Change | None) -> Difference:
    if was is None:
        return Difference("added", None, now)
    return Difference("removed" if now is None else "different", was, now)


def _place(change: Change) -> tuple[str, str]:
    """What is changed, in which database. All new rows of a model share a place."""
    place = change.target.rpartition("#")[0] if change.target.startswith("new:") else change.target
    return str(change.extras.get("x-alias", "")), place


def _content(change: Change) -> str:
    return canonical_json(change.action) + _text(change.before, change.after)


def _text(*values: Any) -> str:
    return canonical_json([None if value is UNSET else [value] for value in values])


def _by_name(snapshot: Any) -> Mapping[str, Any]:
    if snapshot is UNSET:
        return {}
    return snapshot if isinstance(snapshot, Mapping) else {"": snapshot}
