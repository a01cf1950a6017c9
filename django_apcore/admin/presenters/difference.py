"""What would happen now, against what was approved: only the objects for which that is not the same."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apcore.modules import UNSET, Change
from django_apcore.admin.presenters.changes import ChangeRow, change_row
from django_apcore.admin.presenters.values import visible
from django_apcore.effects import Difference as Compared
from django_apcore.effects import compare_changes
from django_apcore.models import EffectChange


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """One object; a side is None where the object is not part of that effect."""

    label: str
    target: str
    database: str
    approved: ChangeRow | None
    now: ChangeRow | None


@dataclass(frozen=True, slots=True)
class Difference:
    title: str
    intro: str
    rows: tuple[DifferenceRow, ...]
    url: str
    more: str = ""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many changes were approved, how many there would be now, and how many of each are not in the other list."""

    approved: int
    now: int
    gone: int
    new: int


def rows(approved: Iterable[EffectChange], now: Iterable[EffectChange]) -> tuple[DifferenceRow, ...]:
    """Pair changes by object, leaving out those that are equal in meaning."""
    stored: dict[int, EffectChange] = {}
    compared = compare_changes(_as_changes(approved, stored), _as_changes(now, stored))
    differing = [each for each in compared if each.verdict != "same"]
    return tuple(_row(each, stored) for each in sorted(differing, key=lambda each: each.target))


def title(was_approved: bool) -> str:
    if was_approved:
        return _("What is different from what was approved")
    return _("What is different from the earlier request")


def intro(sizes: Sizes, reason: str, was_approved: bool) -> str:
    """Why there is a new request, and how far the two effects are apart."""
    why = _("its effect was no longer the approved one") if reason == "drift" else visible(reason)
    first = _("This was approved before, and not executed:") if was_approved else _("This replaces an earlier request:")
    sums = ngettext("{then} change then, {now} now.", "{then} changes then, {now} now.", sizes.approved)
    differ = _("Not made any more, or not like that: {gone}. New, or different: {new}.")
    numbers = {"then": sizes.approved, "now": sizes.now, "gone": sizes.gone, "new": sizes.new}
    known = {name: f"{number:,}" for name, number in numbers.items()}
    return " ".join([first, f"{why}.", sums.format(**known), differ.format(**known)])


def more(sizes: Sizes, shown: int) -> str:
    """That not all differences are shown, if so."""
    if max(sizes.gone, sizes.new) <= shown:
        return ""
    return _("Only the first {n} objects that differ are shown.").format(n=shown)


def _as_changes(changes: Iterable[EffectChange], stored: dict[int, EffectChange]) -> list[Change]:
    """The changes as the core knows them; `stored` leads from each back to its row."""
    found = []
    for row in changes:
        before = UNSET if row.before is None else row.before
        after = UNSET if row.after is None else row.after
        change = Change(row.action, row.target, row.summary, before, after, **row.extras)
        stored[id(change)] = row
        found.append(change)
    return found


def _row(found: Compared, stored: Mapping[int, EffectChange]) -> DifferenceRow:
    was = change_row(stored[id(found.was)]) if found.was else None
    now = change_row(stored[id(found.now)]) if found.now else None
    named = now or was
    label, database = (named.label, named.database) if named else ("", "")
    return DifferenceRow(label, visible(found.target), database, was, now)
