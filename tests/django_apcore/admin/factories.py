"""Requests with effects as the services store them, made without running a module."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import Permission, User
from django.utils import timezone

from django_apcore.models import ApprovalRequest, EffectChange

DIGEST = "d" * 64


def person(name: str, *permissions: str, **fields: Any) -> User:
    """A member of staff with these permissions of django_apcore."""
    user = User.objects.create_user(name, password="secret", is_staff=True, **fields)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return user


def approver(name: str = "ada") -> User:
    return person(name, "view_approvalrequest", "decide_approvalrequest")


def viewer(name: str = "victor") -> User:
    return person(name, "view_approvalrequest")


def change(action: str, pk: int, kind: str = "store.Track", **fields: Any) -> dict[str, Any]:
    """One change of an effect, as columns of EffectChange."""
    return {
        "action": action,
        "kind": kind,
        "target": f"{kind}:{pk}",
        "label": f"{kind.rpartition('.')[2]} number {pk}",
        "summary": f"{action} {kind} {pk}",
        "extras": {"x-kind": kind},
        **fields,
    }


def updates(number: int, kind: str = "store.Track") -> list[dict[str, Any]]:
    return [
        change("update", pk, kind, before={"unit_price": "0.99"}, after={"unit_price": "1.09"})
        for pk in range(1, number + 1)
    ]


def approval(changes: Iterable[dict[str, Any]] = (), **fields: Any) -> ApprovalRequest:
    """A pending request with this effect; measured and complete unless `fields` say otherwise."""
    rows: Sequence[dict[str, Any]] = list(changes)
    now = timezone.now()
    counts = Counter(f"{row['kind']}:{row['action']}" for row in rows)
    known: dict[str, Any] = {
        "module_id": "store.catalogue.reprice",
        "module_hash": "a" * 64,
        "module_description": "Change the price of every track of a genre by a percentage.",
        "call_chain": ["store.catalogue.reprice"],
        "identity_id": "41",
        "identity_type": "service",
        "trace_id": "0af7651916cd43dd8448eb211c80319c",
        "inputs_encrypted": "not readable here",
        "inputs_redacted": {"genre": "Rock", "percent": 10},
        "inputs_digest": "1" * 64,
        "original_inputs_digest": "1" * 64,
        "provenance": "measured",
        "effect_complete": True,
        "effect_digest": DIGEST,
        "effect_counts": dict(counts),
        "effect_total": len(rows),
        "effect_listed": len(rows),
        "effect_destructive": any(row["action"] == "delete" for row in rows),
        "created_at": now,
        "expires_at": now + timedelta(hours=24),
    }
    request = ApprovalRequest.objects.create(**{**known, **fields})
    EffectChange.objects.bulk_create(
        [EffectChange(request=request, position=position, **row) for position, row in enumerate(rows)], batch_size=500
    )
    return request
