"""The effect record: what a call would change, how that is known, and what is not known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from apcore.effects.digest import change_digest, effect_digest, is_settled
from apcore.errors import InvalidInputError, require
from apcore.modules.change import Change
from apcore.redaction import NO_SECRETS, SensitiveValues

Provenance = Literal["measured", "planned", "declared", "none"]
"""How an effect is known: by the module's own execution rolled back, by its plan, by its word, or not at all."""

_EMPTY: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class EffectRecord:
    """What a call would change.

    ``changes`` are the listed ones, at most as many as the builder was told to list; ``total`` and ``counts``
    (``{"store.Track:update": 1297}``) cover all. ``complete`` is False when ``gaps`` names something that could not be
    accounted for. ``unwatched`` names kinds of side effects that nobody looked at. ``digest`` covers every change,
    listed or not, and the gaps. Digest and counts are made when first asked for, where nothing that they cover can
    change until then.
    """

    provenance: Provenance
    digest: str
    complete: bool = True
    gaps: tuple[str, ...] = ()
    unwatched: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    counts: Mapping[str, int] = field(default_factory=lambda: _EMPTY)
    total: int = 0

    @classmethod
    def build(
        cls,
        provenance: Provenance,
        changes: Iterable[Change] = (),
        *,
        gaps: Iterable[str] = (),
        unwatched: Iterable[str] = (),
        listed: int = 10_000,
        secrets: SensitiveValues = NO_SECRETS,
    ) -> EffectRecord:
        """Consume ``changes`` once; keep the first ``listed`` of them, count and digest all, without ``secrets``."""
        shown = map(partial(_without, secrets), changes) if secrets else iter(changes)
        kept, further, known_gaps = tuple(islice(shown, listed)), next(shown, None), tuple(gaps)
        record, set_field = object.__new__(cls), object.__setattr__  # digest and counts may have to wait
        set_field(record, "provenance", provenance)
        set_field(record, "complete", not known_gaps and provenance != "none")
        set_field(record, "gaps", known_gaps)
        set_field(record, "unwatched", tuple(unwatched))
        set_field(record, "changes", kept)
        if further is None and all(map(is_settled, kept)):
            set_field(record, "total", len(kept))
            return record
        digests, counts = list[bytes](), Counter[str]()
        for change in kept if further is None else chain(kept, (further,), shown):
            digests.append(change_digest(change))
            counts[_kind_and_action(change)] += 1
        set_field(record, "total", len(digests))
        set_field(record, "counts", _sorted(counts))
        set_field(record, "digest", effect_digest(provenance, known_gaps, digests))
        return record

    if not TYPE_CHECKING:  # or every attribute would seem to exist

        def __getattr__(self, name: str) -> Any:
            """What says something of all changes, of a record that was made without it."""
            if name == "digest":
                value = effect_digest(self.provenance, self.gaps, map(change_digest, self.changes))
            elif name == "counts":
                value = _sorted(Counter(map(_kind_and_action, self.changes)))
            else:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            object.__setattr__(self, name, value)
            return value

    @property
    def destructive(self) -> bool:
        """Whether anything is deleted."""
        return any(key.endswith(":delete") for key in self.counts)

    def to_dict(self, limit: int | None = None) -> dict[str, Any]:
        """The JSON form; at most ``limit`` changes are written out, ``total`` still says how many there are."""
        changes = self.changes if limit is None else self.changes[:limit]
        return {
            "provenance": self.provenance,
            "digest": self.digest,
            "complete": self.complete,
            "gaps": list(self.gaps),
            "unwatched": list(self.unwatched),
            "counts": dict(self.counts),
            "total": self.total,
            "changes": [change.to_dict() for change in changes],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> EffectRecord:
        """Read the JSON form back. The digest is taken as written, since unlisted changes are part of it.

        Raises InvalidInputError for what is no written record.
        """
        require("A written effect record", data, Mapping, "an object")
        missing = [name for name in ("provenance", "digest", "complete") if name not in data]
        if missing:
            raise InvalidInputError(f"A written effect record has no {missing[0]}")
        return cls(
            provenance=data["provenance"],
            digest=data["digest"],
            complete=data["complete"],
            gaps=tuple(data.get("gaps", ())),
            unwatched=tuple(data.get("unwatched", ())),
            changes=tuple(Change.from_dict(change) for change in data.get("changes", ())),
            counts=MappingProxyType(dict(data.get("counts", {}))),
            total=data.get("total", 0),
        )


def change_kind(change: Change) -> str:
    """What sort of thing changes: the model label where known, else the part of the target before its first colon."""
    kind = change.extras.get("x-kind")
    return kind if isinstance(kind, str) else change.target.partition(":")[0]


def _kind_and_action(change: Change) -> str:
    return f"{change_kind(change)}:{change.action}"


def _sorted(counts: Counter[str]) -> Mapping[str, int]:
    return MappingProxyType(dict(sorted(counts.items())))


def _without(secrets: SensitiveValues, change: Change) -> Change:
    """The change as it may be shown: its words and snapshots without secrets, what it does and to what untouched.

    Otherwise a caller could hide from the approver that something is deleted, by calling it a secret.
    """
    extras = {name: secrets.hide(each) if name == "x-label" else each for name, each in change.extras.items()}
    before, after = secrets.hide(change.before), secrets.hide(change.after)
    return Change(change.action, change.target, secrets.hide(change.summary), before, after, **extras)


NO_EFFECT = EffectRecord.build("none")
"""The record of a module whose effect cannot be known beforehand."""
