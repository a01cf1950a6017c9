"""The effect of a request as the API shows it: the form of `EffectRecord.to_dict()`, without secrets."""

from collections.abc import Mapping
from typing import Any, Final

from apcore.effects import EffectRecord
from apcore.redaction import DEFAULT_SENSITIVE_KEYS, REDACTED_VALUE, redact
from django_apcore.conf import get_settings
from django_apcore.models import ApprovalRequest, EffectChange

LISTED: Final = 100
"""How many changes an answer lists; `counts`, `total` and `digest` always cover all of them."""


def effect_dict(request: ApprovalRequest, *, listed: int = LISTED) -> dict[str, Any]:
    """What the call would change, with at most `listed` changes. One query."""
    return {
        **effect_summary(request),
        "changes": [change_dict(change) for change in request.changes.all()[:listed]],
    }


def effect_summary(request: ApprovalRequest) -> dict[str, Any]:
    """The same without the changes, for lists. No query."""
    return {
        "provenance": request.provenance,
        "digest": request.effect_digest,
        "complete": request.effect_complete,
        "destructive": request.effect_destructive,
        "counts": request.effect_counts,
        "total": request.effect_total,
        "gaps": request.effect_gaps,
        "unwatched": request.effect_unwatched,
    }


def record_summary(record: EffectRecord) -> dict[str, Any]:
    """The same for an effect that is not stored."""
    return {
        "provenance": record.provenance,
        "digest": record.digest,
        "complete": record.complete,
        "destructive": record.destructive,
        "counts": dict(record.counts),
        "total": record.total,
        "gaps": list(record.gaps),
        "unwatched": list(record.unwatched),
    }


def change_dict(change: EffectChange) -> dict[str, Any]:
    """A stored change in the wire form of `Change` (§12.2), with `x-` extras beside the fields."""
    wire = {"action": change.action, "target": change.target, "summary": change.summary}
    snapshots = {"before": change.before, "after": change.after}
    given = {name: value for name, value in snapshots.items() if value is not None}
    return without_secrets(wire | given | change.extras)


def without_secrets(change: Mapping[str, Any]) -> dict[str, Any]:
    """A change in the wire form, as it may leave the process."""
    shown = redact(dict(change), keys=DEFAULT_SENSITIVE_KEYS | set(get_settings().sensitive_keys))
    return {name: _unmarked(value) for name, value in shown.items()}


def _unmarked(value: Any) -> Any:
    """Replace the keyed digests that stand for sensitive values by the words that people know."""
    if isinstance(value, dict):
        return REDACTED_VALUE if "$redacted" in value else {name: _unmarked(item) for name, item in value.items()}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value
