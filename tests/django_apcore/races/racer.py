"""One process of a race: reads commands from standard input, line by line, and answers each with a line of JSON.

A command names what to do and the instant at which to do it, so that several processes do it at once.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import Group, User  # noqa: E402 - Django has to be set up first
from django.utils import timezone  # noqa: E402
from django_celery_results.models import TaskResult  # noqa: E402

from apcore.errors import ApprovalPendingError, ModuleError  # noqa: E402
from django_apcore import runtime, services  # noqa: E402
from django_apcore.conf import get_settings  # noqa: E402
from django_apcore.models import ApprovalDecision, ApprovalRequest, AuditEntry  # noqa: E402
from django_apcore.testing import allow_all, override_runtime  # noqa: E402
from tests.django_apcore import stage  # noqa: E402
from tests.django_apcore.races.slow import create_slowly  # noqa: E402


def setup() -> dict[str, Any]:
    stage.make_user("rita")
    for name in ("adam", "olga"):
        stage.make_user(name, decides=True)
    return {}


def ask(name: str, module_id: str = "test.groups.create") -> str:
    context = stage.context_for(User.objects.get(username="rita"))
    try:
        runtime.get().executor.call(module_id, {"name": name}, context)
    except ApprovalPendingError as pending:
        return str(pending.details["approval_id"])
    raise AssertionError("The call was not stopped")


def approve(request: str, user: str) -> str:
    row = ApprovalRequest.objects.get(pk=request)
    actor = User.objects.get(username=user)
    return str(services.approve(request, actor=actor, seen_digest=row.effect_digest).status)


def approve_unheard(request: str, user: str) -> str:
    """Approve while the broker is away."""
    use_queue("nobody-listens-here")
    try:
        return approve(request, user)
    finally:
        use_queue(os.environ.get("RACE_QUEUE"))


def use_queue(name: str | None) -> None:
    """Set APCORE["TASK_QUEUE"] as a settings file would; the signal of an override would build a new runtime."""
    settings.APCORE = {**settings.APCORE, "TASK_QUEUE": name}
    get_settings.cache_clear()


def results(request: str) -> list[Any]:
    """What the result backend keeps of the executions of a request."""
    kept = [json.loads(row.result) for row in TaskResult.objects.filter(status="SUCCESS") if row.result]
    return [each for each in kept if each.get("approval_id") == request]


def reject(request: str, user: str) -> str:
    return str(services.reject(request, actor=User.objects.get(username=user), reason="no").status)


def cancel(request: str) -> str:
    return str(services.cancel(request, actor=User.objects.get(username="rita")).status)


def expire(request: str) -> str:
    return str(services.expire(request).status)


def overdue(request: str) -> int:
    return ApprovalRequest.objects.filter(pk=request).update(expires_at=timezone.now())


def execute(request: str) -> str:
    return str(services.execute_approved(request).status)


def resume(request: str, name: str, key: str | None = None) -> Any:
    context = stage.context_for(User.objects.get(username="rita"))
    call = {"module_id": "test.groups.create", "inputs": {"name": name}, "context": context}
    return services.resume(request, idempotency_key=key, **call)


def outdate(request: str) -> int:
    """Make an approved request one for another version of its module."""
    return ApprovalRequest.objects.filter(pk=request).update(module_hash="0" * 64)


def append(subject: str, times: int) -> int:
    for number in range(times):
        services.append("race", subject=subject, data={"pid": os.getpid(), "number": number})
    return times


def verify(times: int) -> bool:
    return all(services.verify().ok for _ in range(times))


def toggle(module_id: str, enabled: bool) -> str:
    return str(services.toggle(module_id, enabled=enabled, actor=None))


def call(module_id: str, **inputs: Any) -> Any:
    return runtime.get().executor.call(module_id, inputs)


def save_rule(effect: str) -> int:
    rule = {"callers": ["@external"], "targets": ["test.plain.*"], "effect": effect}
    return len(services.replace_rules([rule], actor=None))


def look(request: str, name: str) -> dict[str, Any]:
    row = ApprovalRequest.objects.get(pk=request)
    return {
        "status": row.status,
        "decisions": ApprovalDecision.objects.filter(request=row).count(),
        "groups": Group.objects.filter(name=name).count(),
        "same_digest": row.committed_digest == row.effect_digest,
        "successors": ApprovalRequest.objects.filter(supersedes=row).count(),
        "consumed": AuditEntry.objects.filter(subject=row.subject, kind="approval.consumed").count(),
        "audit": services.verify().ok,
    }


ACTIONS: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        setup,
        ask,
        approve,
        approve_unheard,
        results,
        reject,
        cancel,
        expire,
        overdue,
        execute,
        resume,
        outdate,
        append,
        verify,
        toggle,
        call,
        save_rule,
        look,
    )
}


def act(command: dict[str, Any]) -> dict[str, Any]:
    while time.time() < command.get("at", 0):
        time.sleep(0)
    try:
        return {"answer": ACTIONS[command["do"]](**command["with"])}
    except ModuleError as error:
        return {"error": error.details.get("reason") or error.code}


def main() -> None:
    acl = None if os.environ.get("RACE_ACL") == "database" else allow_all()
    modules = {**stage.MODULES, "test.groups.slow": create_slowly}
    with override_runtime(modules=modules, installed=False, acl=acl):
        use_queue(os.environ.get("RACE_QUEUE"))
        print("ready", flush=True)
        for line in sys.stdin:
            print(json.dumps(act(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
