"""Remeasure: find out what a pending request would change now."""

from uuid import UUID

from django.contrib.auth.models import User

from apcore.effects import EffectRecord
from django_apcore.models import ApprovalRequest
from django_apcore.services._announce import announce
from django_apcore.services._calls import executor
from django_apcore.services._database import atomic
from django_apcore.services._requests import event, find, lock, policy_for, require_decider, require_pending, save
from django_apcore.services._store import EFFECT_COLUMNS, set_effect, store_changes
from django_apcore.services.audit import append_all
from django_apcore.services.measure import measure
from django_apcore.signals import approval_remeasured


def remeasure(request_id: UUID | str, *, actor: User) -> ApprovalRequest:
    """Measure the effect of a pending request again and store it in place of the old one.

    The digest changes if the effect did, so a page rendered before can no longer approve it. Needs the permission to
    decide. Raises ApprovalNotFound; ApprovalForbidden (no_permission, not_a_decider); ApprovalConflict
    (already_decided, expired); and what the module or the access list raise for this call today.
    """
    request = find(request_id)
    _require_right(request, actor)
    effect = measure(request)
    with atomic():
        request = lock(request_id)
        _require_right(request, actor)
        _replace_effect(request, effect, actor)
    return request


def _require_right(request: ApprovalRequest, actor: User) -> None:
    require_decider(actor, request, policy_for(request.module_id), own=True)
    require_pending(request)


def _replace_effect(request: ApprovalRequest, effect: EffectRecord, actor: User) -> None:
    before = request.effect_digest
    set_effect(request, effect)
    request.module_hash = executor().registry.get_definition(request.module_id).content_hash
    save(request, "module_hash", *EFFECT_COLUMNS)
    if request.effect_digest != before:
        request.changes.all().delete()
        store_changes(request, effect)
    append_all([event("approval.remeasured", request, actor, before=before, effect_digest=request.effect_digest)])
    announce(approval_remeasured, ApprovalRequest, request=request, changed=request.effect_digest != before)
