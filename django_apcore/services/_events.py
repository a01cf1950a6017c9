"""What the signals of the governance are called as events (§7.9, §9.16)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from django.dispatch import Signal

from apcore.events import Event, core_event
from apcore.events import core as names
from django_apcore import signals
from django_apcore.models import ApprovalDecision, ApprovalRequest, AsyncTask

News = Mapping[str, Any]

_FINISHED: Final = {
    AsyncTask.Status.COMPLETED: names.TASK_COMPLETED,
    AsyncTask.Status.FAILED: names.TASK_FAILED,
    AsyncTask.Status.CANCELLED: names.TASK_CANCELLED,
}


def events_of(signal: Signal, news: News) -> Sequence[Event]:
    """The events that a signal with these keywords stands for: none for many of them."""
    tell = _TELLERS.get(id(signal))
    return () if tell is None else tell(news)


def _requested(news: News) -> Sequence[Event]:
    request: ApprovalRequest = news["request"]
    context = request.context_json
    asked = {"caller_id": context.get("caller_id"), "requested_by": request.identity_id or None}
    return _about(request, names.APPROVAL_REQUESTED, **asked), _about(request, names.APPROVAL_PENDING)


def _decided(news: News) -> Sequence[Event]:
    decision: ApprovalDecision = news["decision"]
    is_granted = decision.verdict == ApprovalDecision.Verdict.APPROVE
    name = names.APPROVAL_GRANTED if is_granted else names.APPROVAL_DENIED
    return (_about(news["request"], name, decided_by=decision.decided_by_name),)


def _consumed(news: News) -> Sequence[Event]:
    return (_about(news["request"], names.APPROVAL_CONSUMED),)


def _failed(news: News) -> Sequence[Event]:
    request: ApprovalRequest = news["request"]
    return (_about(request, names.APPROVAL_FAILED, error_code=(request.failure or {}).get("code")),)


def _expired(news: News) -> Sequence[Event]:
    return (_about(news["request"], names.APPROVAL_TIMEOUT),)


def _cancelled(news: News) -> Sequence[Event]:
    return (_about(news["request"], names.APPROVAL_CANCELLED),)


def _superseded(news: News) -> Sequence[Event]:
    return (_about(news["request"], names.APPROVAL_SUPERSEDED, successor_id=str(news["successor"].pk)),)


def _toggled(news: News) -> Sequence[Event]:
    if news["trace_id"] is not None:
        return ()  # system.control.toggle_feature tells of what it did
    toggle = news["toggle"]
    data = {"module_id": toggle.module_id, "enabled": toggle.enabled}
    return (core_event(names.MODULE_TOGGLED, data, severity="info" if toggle.enabled else "warn"),)


def _submitted(news: News) -> Sequence[Event]:
    return (_of_task(news["task"], names.TASK_SUBMITTED),)


def _started(news: News) -> Sequence[Event]:
    return (_of_task(news["task"], names.TASK_STARTED),)


def _finished(news: News) -> Sequence[Event]:
    task: AsyncTask = news["task"]
    code = {"error_code": (task.error or {}).get("code")} if task.status == AsyncTask.Status.FAILED else {}
    return (_of_task(task, _FINISHED[AsyncTask.Status(task.status)], **code),)


def _about(request: ApprovalRequest, name: str, **more: Any) -> Event:
    data = {"module_id": request.module_id, "approval_id": str(request.pk), **more}
    return core_event(name, data, trace_id=request.trace_id)


def _of_task(task: AsyncTask, name: str, **more: Any) -> Event:
    return core_event(name, {"module_id": task.module_id, "task_id": str(task.pk), **more}, trace_id=task.trace_id)


_TELLERS: Final[Mapping[int, Callable[[News], Sequence[Event]]]] = {
    id(signals.approval_requested): _requested,
    id(signals.approval_decided): _decided,
    id(signals.approval_consumed): _consumed,
    id(signals.approval_failed): _failed,
    id(signals.approval_expired): _expired,
    id(signals.approval_cancelled): _cancelled,
    id(signals.approval_superseded): _superseded,
    id(signals.toggle_changed): _toggled,
    id(signals.task_submitted): _submitted,
    id(signals.task_started): _started,
    id(signals.task_finished): _finished,
}
