"""Execute: a worker runs what was approved."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import Error, connections
from django.db.models import F, Q
from django.utils import timezone

from apcore import approval
from apcore.approval import APPROVAL_TOKEN
from apcore.context import Context
from apcore.errors import ApprovalPendingError, ConfigError, ModuleError
from apcore.pipeline import PipelineState
from django_apcore.exceptions import ApprovalConflict
from django_apcore.models import ApprovalRequest
from django_apcore.services._broker import send
from django_apcore.services._calls import (
    LOST_AFTER,
    WORKERS_TO_LOSE,
    StoredInputs,
    executor,
    require_open_account,
    restored_context,
)
from django_apcore.services._database import alias, atomic, may_pass
from django_apcore.services._requests import conflict, find
from django_apcore.services.expire import expire
from django_apcore.services.fail import fail
from django_apcore.services.measure import measure
from django_apcore.services.supersede import supersede

logger = logging.getLogger("django_apcore.approvals")

_OUTDATED = {"module_changed": "the module was changed", "policy_changed": "the approval policy was changed"}


def execute_approved(request_id: UUID | str) -> ApprovalRequest:
    """Run an approved call with the identity, chain and inputs it was asked for with, and return the request after it.

    Safe to call any number of times and from several processes: whoever consumes the approval executes, the others
    return. Drift, or another version of the module or its policy, opens a superseding request; an error of the module
    marks the request as failed, and so does a call that took several workers with it, once none of them can be at it
    any more. Raises ApprovalNotFound, and what is wrong with database or set-up and may pass.
    """
    request = find(request_id)
    if request.status != ApprovalRequest.Status.APPROVED:
        return request
    if request.is_expired:
        return expire(request_id)
    if request.executions_begun >= WORKERS_TO_LOSE:
        return fail(request_id, _worker_lost(request)) if _are_lost(request) else request
    try:
        require_open_account(request)
        inputs = StoredInputs.from_encrypted(request.inputs_encrypted)
        with _counted(request):
            call_governed(request, inputs.sent, restored_context(request.context_json))
    except ApprovalPendingError:
        logger.info("Approval %s: superseded, nothing was committed", request.pk)
    except ApprovalConflict as refused:
        _settle(request, refused)
    except ModuleError as error:
        if isinstance(error, ConfigError) or may_pass(error):
            raise  # the set-up or the database is the trouble, not the call: a later attempt makes sense
        fail(request_id, error)
    return find(request_id)


def call_governed(request: ApprovalRequest, inputs: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Make a stored call under its approval.

    Without an approval gate that checks the token nothing runs: not by a misconfigured process, nor for a module that
    no longer asks for approvals. Raises what the executor raises; ApprovalConflict (module_changed).
    """
    if executor().approval_handler is None:
        raise ConfigError("This process has no approval handler, so it cannot execute under approvals.")

    def must_be_granted(state: PipelineState) -> bool:
        if state.step_name == "approval_gate" and state.grant is None:
            raise conflict(request, "module_changed", "The module no longer asks for an approval.")
        return False

    inputs = {**inputs, APPROVAL_TOKEN: str(request.pk)}
    return executor().call(request.module_id, inputs, context, run_until=must_be_granted)


@contextmanager
def _counted(request: ApprovalRequest) -> Iterator[None]:
    """Count an execution before it begins; if it ends and the approval is still good, it does not count.

    What stays counted took its worker with it.
    """
    row = ApprovalRequest.objects.using(alias()).filter(pk=request.pk, status=ApprovalRequest.Status.APPROVED)
    row.update(executions_begun=F("executions_begun") + 1, execution_begun_at=timezone.now())
    try:
        yield
    except BaseException:
        with suppress(Error):
            row.update(executions_begun=F("executions_begun") - 1)
        raise


def _are_lost(request: ApprovalRequest) -> bool:
    """Whether the workers that began are gone, and not just before the row that lets one of them go on."""
    begun_at = request.execution_begun_at
    return begun_at is None or begun_at < timezone.now() - LOST_AFTER


def _worker_lost(request: ApprovalRequest) -> ModuleError:
    return ModuleError(
        f"{request.executions_begun} workers were lost while they executed this call, so it is not tried again. None "
        "of their transactions was committed; what they did outside of the database is not known.",
        code="APPROVAL_WORKER_LOST",
        retryable=False,
        module_id=request.module_id,
    )


def enqueue(request_id: UUID | str) -> None:
    """Ask a worker to execute. A broker that is away is logged: `dispatch_approved` makes up for it."""
    send("apcore.execute_approved", request_id)


def dispatch_approved(*, older_than: timedelta = timedelta(0)) -> int:
    """Enqueue every request that is approved, not consumed, and meant for a worker. Returns how many there were.

    The database is the queue of record: this runs when a worker starts and from beat, so a lost message loses nothing.
    """
    waiting = _waiting(timezone.now() - older_than)
    for request_id in waiting:
        enqueue(request_id)
    return len(waiting)


def _waiting(decided_before: datetime) -> list[UUID]:
    """The requests that wait for a worker, without those that one is executing, where the database can tell."""
    requests = ApprovalRequest.objects.using(alias()).filter(
        Q(policy=None) | Q(policy__execute_on_approval=True),
        status=ApprovalRequest.Status.APPROVED,
        decided_at__lte=decided_before,
        expires_at__gt=timezone.now(),
    )
    if not connections[alias()].features.has_select_for_update_skip_locked:
        return list(requests.order_by("decided_at").values_list("pk", flat=True))
    with atomic():
        unlocked = requests.select_for_update(skip_locked=True, of=("self",))
        return list(unlocked.order_by("decided_at").values_list("pk", flat=True))


def _settle(request: ApprovalRequest, refused: ApprovalConflict) -> None:
    """Somebody else was faster, or what was approved is out of date and has to be asked for again."""
    reason = _OUTDATED.get(refused.details["reason"])
    if reason is None:
        logger.info("Approval %s: not executed here (%s)", request.pk, refused.details["reason"])
        return
    try:
        _ask_again(request, reason)
    except ApprovalConflict:
        logger.info("Approval %s: settled elsewhere", request.pk)
    except ModuleError as error:
        fail(request.pk, error)


def _ask_again(request: ApprovalRequest, reason: str) -> ApprovalRequest:
    """Measure the call as it is today, and open a request for that."""
    definition = executor().registry.get_definition(request.module_id)
    inputs = StoredInputs.from_encrypted(request.inputs_encrypted)
    effect = measure(request)
    question = approval.ApprovalRequest(
        module_id=request.module_id,
        arguments=inputs.effective,
        context=restored_context(request.context_json).child(request.module_id),
        annotations=definition.annotations,
        description=definition.description,
        tags=list(definition.tags),
        effect=effect,
        original_arguments=inputs.original,
        definition=definition,
    )
    return supersede(request.pk, request=question, effect=effect, reason=reason)
