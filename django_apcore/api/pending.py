"""The answer to a call that waits for a person: 202, with what that person will see."""

from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import router
from rest_framework.request import Request
from rest_framework.response import Response

from apcore.errors import ApprovalPendingError
from django_apcore.api.effects import effect_dict
from django_apcore.api.links import link
from django_apcore.models import ApprovalRequest

RETRY_AFTER_SECONDS: Final = 5


def pending_response(request: Request, pending: ApprovalPendingError) -> Response:
    """`code`, `approval_id`, `status_url`, `expires_at` and `preview`, where the request is stored in this project.

    A pending answer of another approval handler has the form of an error (§8.1).
    """
    approval_id = str(pending.details.get("approval_id", ""))
    approval = _stored(approval_id)
    if approval is None:
        return Response(pending.to_dict(), status=202, headers=_headers())
    status_url = link(request, "approval", approval.pk)
    body: dict[str, Any] = {
        "code": pending.code,
        "approval_id": approval_id,
        "status_url": status_url,
        "expires_at": approval.expires_at,
        "preview": effect_dict(approval),
    }
    if approval.supersedes_id is not None:
        body["supersedes"] = str(approval.supersedes_id)
    return Response(body, status=202, headers=_headers(Location=status_url))


def _stored(approval_id: str) -> ApprovalRequest | None:
    try:
        requests = ApprovalRequest.objects.using(router.db_for_write(ApprovalRequest))  # a replica may not have it yet
        return requests.filter(pk=approval_id).first()
    except ValidationError:  # the ID is another handler's, and no UUID
        return None


def _headers(**more: str) -> dict[str, str]:
    return {"Retry-After": str(RETRY_AFTER_SECONDS), **more}
