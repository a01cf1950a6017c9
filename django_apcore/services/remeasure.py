"""Remeasure: find out what a pending request would change now."""

from uuid import UUID

from django.contrib.auth.models import User

from django_apcore.models import ApprovalRequest


def remeasure(request_id: UUID | str, *, actor: User) -> ApprovalRequest:
    """Measure the effect of a pending request again and store it in place of the old one.

    The digest changes if the effect did, so a page rendered before can no longer approve it. Needs the permission to
    decide. Raises ApprovalNotFound; ApprovalForbidden (no_permission, not_a_decider); ApprovalConflict
    (already_decided, expired); and what the module or the access list raise for this call today.
    """
    raise NotImplementedError
