"""Submit: hand a call to a worker (§5.8)."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from apcore.context import Context
from apcore.pipeline import PipelineState
from django_apcore.models import AsyncTask
from django_apcore.services._announce import announce
from django_apcore.services._broker import send
from django_apcore.services._calls import StoredInputs, executor, identity_columns, redacted, stored_context, user_pk
from django_apcore.services._database import alias, atomic
from django_apcore.services._tasks import is_lost
from django_apcore.services.audit import append
from django_apcore.signals import task_submitted


def submit(module_id: str, inputs: Mapping[str, Any], context: Context) -> AsyncTask:
    """Store the call as a pending task and enqueue it after the commit.

    An unknown or disabled module, a denied caller and bad inputs are refused now, with the errors that a call would
    raise, and checked again when the task runs.
    """
    _refuse_hopeless(module_id, inputs, context)
    schema = executor().registry.get_definition(module_id).input_schema
    task = AsyncTask(
        module_id=module_id,
        inputs_encrypted=StoredInputs(inputs).encrypted(),
        inputs_redacted=redacted(dict(inputs), schema),
        context_json=stored_context(context),
        requested_by_id=user_pk(context.identity),
        trace_id=context.trace_id,
        **identity_columns(context.identity),
    )
    with atomic():
        task.save(using=alias(), force_insert=True)
        append(
            "task.submitted",
            subject=task.subject,
            actor=context.identity,
            module_id=module_id,
            trace_id=task.trace_id,
        )
        announce(task_submitted, AsyncTask, task=task)
        transaction.on_commit(lambda: send("apcore.run_task", task.pk), using=alias(), robust=True)
    return task


def dispatch_submitted(*, older_than: timedelta = timedelta(0)) -> int:
    """Enqueue every task that is still pending, and those whose worker was lost. Returns how many there were.

    A task that is sent twice runs once.
    """
    tasks = AsyncTask.objects.using(alias()).order_by("created_at")
    pending = tasks.filter(status=AsyncTask.Status.PENDING, created_at__lte=timezone.now() - older_than)
    waiting = list(pending.values_list("pk", flat=True))
    waiting += [task.pk for task in tasks.filter(status=AsyncTask.Status.RUNNING) if is_lost(task)]
    for task_id in waiting:
        send("apcore.run_task", task_id)
    return len(waiting)


def _refuse_hopeless(module_id: str, inputs: Mapping[str, Any], context: Context) -> None:
    """Take the call as far as the access check, and hold its inputs against the schema."""

    def is_far_enough(state: PipelineState) -> bool:
        if state.step_name != "acl_check":
            return False
        state.definition.input_validator.validate(state.inputs)
        return True

    executor().call(module_id, inputs, Context.deserialize(context.serialize()), run_until=is_far_enough)
