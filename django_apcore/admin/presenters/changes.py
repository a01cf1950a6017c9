"""Changes as an approver reads them: grouped by what is changed, one row per object, field by field."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.apps import apps
from django.db.models import Model
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from django_apcore.admin.presenters.values import Shown, shown, shown_pair, visible
from django_apcore.models import EffectChange


@dataclass(frozen=True, slots=True)
class Act:
    """What is done to a row, told apart by sign, word and (in the style sheet) colour."""

    action: str
    sign: str
    word: str
    style: str


@dataclass(frozen=True, slots=True)
class Count:
    """How many changes of one kind and action an effect has."""

    kind: str
    act: Act
    number: int


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field; `before` is None for a new row and `after` for one that goes away."""

    name: str
    before: Shown | None
    after: Shown | None


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One changed object; `database` is empty for the default one."""

    act: Act
    label: str
    target: str
    database: str
    note: str
    fields: tuple[FieldRow, ...]


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """The changes of one model on this page."""

    kind: str
    title: str
    rows: tuple[ChangeRow, ...]


def act(action: str) -> Act:
    """How an action is written. Verbs of a module's own `preview()` appear as they are."""
    match action:
        case "delete":
            return Act(action, "−", _("deleted"), "delete")
        case "update":
            return Act(action, "~", _("changed"), "update")
        case "insert" | "create":
            return Act(action, "+", _("inserted"), "insert")
        case "send":
            return Act(action, "↗", _("sent"), "send")
        case "enqueue":
            return Act(action, "»", _("queued"), "enqueue")
        case "run":
            return Act(action, "▸", _("run after commit"), "run")
    return Act(action, "•", visible(action), "other")


def counts(effect_counts: Mapping[str, int]) -> list[Count]:
    """The counts of an effect, kinds that lose rows first, and within a kind what is deleted first."""
    found = [_count(key, number) for key, number in effect_counts.items()]
    deleting = {count.kind for count in found if count.act.action == "delete"}
    return sorted(found, key=lambda count: (count.kind not in deleting, count.kind, _rank(count.act.action)))


def totals(effect_counts: Mapping[str, int]) -> list[tuple[Act, int]]:
    """How many changes of each sort there are over all kinds, what is deleted first."""
    sums: dict[str, int] = {}
    for count in counts(effect_counts):
        sums[count.act.action] = sums.get(count.act.action, 0) + count.number
    return [(act(action), sums[action]) for action in sorted(sums, key=_rank)]


def groups(changes: Iterable[EffectChange]) -> list[ChangeGroup]:
    """Group changes that are already ordered by kind."""
    return [
        ChangeGroup(kind, kind_title(kind), tuple(map(change_row, members)))
        for kind, members in groupby(changes, key=lambda change: change.kind)
    ]


def change_row(change: EffectChange) -> ChangeRow:
    """What was captured speaks for itself; everything else comes with the sentence that its author gave it."""
    label = change.label or change.target.partition(":")[2] or change.target
    model = _model(change.kind)
    captured = model is not None and "x-kind" in change.extras
    return ChangeRow(
        act=act(change.action),
        label=visible(label),
        target=visible(change.target),
        database=visible(str(change.extras.get("x-alias", ""))),
        note="" if captured else visible(change.summary),
        fields=field_rows(change.before, change.after, _field_names(model)),
    )


def field_rows(before: Any, after: Any, order: Sequence[str] = ()) -> tuple[FieldRow, ...]:
    """One row per field that differs, or one nameless row when the snapshots are not objects.

    Fields that are in `order` come in that order, and before others: databases do not keep the order of JSON.
    """
    if before is None and after is None:
        return ()
    if not all(isinstance(snapshot, Mapping | None) for snapshot in (before, after)):
        return (FieldRow("", *shown_pair(before, after)),)
    then, now = before or {}, after or {}
    names = [*then, *(name for name in now if name not in then)]
    known = {name: place for place, name in enumerate(order)}
    names.sort(key=lambda name: known.get(name, len(known)))
    return tuple(_field(name, then, now) for name in names if _differs(name, then, now))


def kind_title(kind: str) -> str:
    """The plural name of a model, or a word for what is not a row."""
    words = {"mail": _("Mail"), "task": _("Background tasks"), "on_commit": _("Code that runs after the commit")}
    if kind in words:
        return words[kind]
    if model := _model(kind):
        return capfirst(str(model._meta.verbose_name_plural))
    return visible(kind) or _("Other changes")


def _model(label: str) -> type[Model] | None:
    try:
        return apps.get_model(label)
    except (LookupError, ValueError):
        return None


def _field_names(model: type[Model] | None) -> list[str]:
    """The names of a model's fields, in its order."""
    return [field.name for field in model._meta.concrete_fields] if model else []


def _count(key: str, number: int) -> Count:
    kind, _colon, action = key.rpartition(":")
    return Count(kind, act(action), number)


def _rank(action: str) -> tuple[int, str]:
    order = ("delete", "update", "insert", "send", "enqueue", "run")
    return (order.index(action) if action in order else len(order), action)


def _differs(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return name not in before or name not in after or before[name] != after[name]


def _field(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> FieldRow:
    if name not in before:
        return FieldRow(visible(name), None, shown(after[name]))
    if name not in after:
        return FieldRow(visible(name), shown(before[name]), None)
    return FieldRow(visible(name), *shown_pair(before[name], after[name]))
