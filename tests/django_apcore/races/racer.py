"""One process of a race: reads commands from standard input, line by line, and answers each with a line of JSON.

A command names what to do and the instant at which to do it, so that several processes do it at once.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import Group, User  # noqa: E402 - Django has to be set up first
from django.db import (  # noqa: E402
    DatabaseError,
    connection,
    connections,
    transaction,
)
from django.db.models import Sum  # noqa: E402
from django.utils import timezone  # noqa: E402
from django_celery_results.models import TaskResult  # noqa: E402

from apcore.errors import ApprovalPendingError, ModuleError  # noqa: E402
from apcore.registry import Registry  # noqa: E402
from django_apcore import runtime, services  # noqa: E402
from django_apcore.conf import get_settings  # noqa: E402
from django_apcore.models import ApprovalDecision, ApprovalRequest, AuditEntry, UsageBucket  # noqa: E402
from django_apcore.services.health import messaging  # noqa: E402
from django_apcore.testing import allow_all  # noqa: E402
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


def ask_control(module: str, inputs: dict[str, Any]) -> str:
    """Ask for a change of how the application runs: `toggle_feature`, `update_config`."""
    context = stage.context_for(User.objects.get(username="rita"))
    try:
        runtime.get().executor.call(f"system.control.{module}", inputs, context)
    except ApprovalPendingError as pending:
        return str(pending.details["approval_id"])
    raise AssertionError("The call was not stopped")


def configured(key: str) -> Any:
    """A configuration value, as the next call of this process would find it; a limit as calls go by it."""
    runtime.get().toggles.is_enabled("test.plain.echo")
    section, _dot, name = key.partition(".")
    value = runtime.get().app.config.get(key)
    assert section != "executor" or getattr(runtime.get().executor.settings, name) == value
    return value


def workers_alive() -> list[str]:
    """The workers that health knows of; one that was not heard of for 6 seconds is gone."""
    messaging.ALIVE = timedelta(seconds=6)
    return list(messaging.workers().figures["alive"])


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


def use_system_modules() -> None:
    """Set APCORE["SYS_MODULES"] as a settings file would, before the runtime is built."""
    settings.APCORE = {**settings.APCORE, "SYS_MODULES": {"enabled": True}}
    get_settings.cache_clear()


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


def long_ago(request: str) -> int:
    """Make the executions of a request that were begun ones of an hour ago."""
    return ApprovalRequest.objects.filter(pk=request).update(execution_begun_at=timezone.now() - timedelta(hours=1))


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


def append_widely(name: str, times: int) -> int:
    """Append about many subjects, so that every chain has several writers."""
    for number in range(times):
        services.append("race", subject=f"{name}:{number}", data={"pid": os.getpid()})
    return times


def append_and_hold(subject: str, sign: str) -> bool:
    """Append, and hold the transaction open while the file is there, 20 s at most. Returns whether it was let go."""
    until = time.monotonic() + 20
    with transaction.atomic():
        services.append("race", subject=subject)
        print(json.dumps({"answer": "held"}), flush=True)
        while (held := Path(sign).exists()) and time.monotonic() < until:
            time.sleep(0.01)
    return not held


def written(name: str) -> int:
    return AuditEntry.objects.filter(kind="race", subject__startswith=f"{name}:").count()


def tamper(statement: str) -> str:
    """Run SQL on the trail. Returns what the database says to it."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    except DatabaseError as error:
        return str(error)
    return ""


def keep(directory: str) -> int:
    """Seal, archive and prune whatever is in the trail. Returns how many entries left it."""
    services.seal()
    services.archive(Path(directory))
    return sum(each.count for each in services.prune(Path(directory), older_than=timedelta(0)))


def verify(times: int) -> bool:
    return all(services.verify().ok for _ in range(times))


def toggle(module_id: str, enabled: bool) -> str:
    return str(services.toggle(module_id, enabled=enabled, actor=None))


def call(module_id: str, **inputs: Any) -> Any:
    return runtime.get().executor.call(module_id, inputs)


def save_rule(effect: str) -> int:
    rule = {"callers": ["@external"], "targets": ["test.plain.*"], "effect": effect}
    return len(services.replace_rules([rule], actor=None))


def call_often(times: int, wrong: int = 0) -> float:
    """Call a module so often, of which `wrong` times with inputs that it refuses. Returns the longest, in seconds."""
    longest = 0.0
    for number in range(times):
        begun = time.perf_counter()
        try:
            runtime.get().executor.call("test.plain.echo", {"text": 1 if number < wrong else "a"})
        except ModuleError:
            assert number < wrong
        longest = max(longest, time.perf_counter() - begun)
    return longest


def call_until_terminated() -> None:
    """Call a module without end, and write down how often, for who ends this process by a signal."""
    called = 0
    print(json.dumps({"answer": "begun"}), flush=True)
    try:
        while True:
            call("test.plain.echo", text="a")
            called += 1
    finally:
        print(json.dumps({"answer": called}), flush=True)


def call_and_roll_back(times: int, for_seconds: float = 0) -> None:
    """Calls in a transaction that holds locks, and is undone."""
    with transaction.atomic():
        Group.objects.create(name=f"rolled back {os.getpid()}")
        call_often(times)
        time.sleep(for_seconds)
        transaction.set_rollback(True)


def fork_and_call(children: int, times: int) -> list[int]:
    """Call, and let children of this process call as often each and end. Returns their exit statuses."""
    call_often(times)
    connections.close_all()
    pids = []
    for _ in range(children):
        pid = os.fork()
        if pid == 0:
            call_often(times)
            sys.exit(0)
        pids.append(pid)
    return [os.waitpid(pid, 0)[1] for pid in pids]


def hide_usage(hidden: bool) -> None:
    """Take the table of usage away, or bring it back."""
    names = ("django_apcore_usagebucket", "hidden_usage")
    before, after = names if hidden else reversed(names)
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {before} RENAME TO {after}")


def hold_usage(for_seconds: float) -> None:
    """Hold a lock that whoever writes usage has to wait for."""
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("LOCK TABLE django_apcore_usagebucket")
        else:
            Group.objects.create(name=f"held {os.getpid()}")
        print(json.dumps({"answer": "held"}), flush=True)
        time.sleep(for_seconds)
        transaction.set_rollback(True)


def usage(module_id: str = "test.plain.echo") -> list[int]:
    """Calls and errors of a module, as the database has them."""
    rows = UsageBucket.objects.filter(module_id=module_id)
    found = rows.aggregate(calls=Sum("calls", default=0), errors=Sum("errors", default=0))
    return [found["calls"], found["errors"]]


def forget_usage() -> int:
    return UsageBucket.objects.all().delete()[0]


def look(request: str, name: str) -> dict[str, Any]:
    row = ApprovalRequest.objects.get(pk=request)
    return {
        "status": row.status,
        "failure": (row.failure or {}).get("code"),
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
        ask_control,
        configured,
        workers_alive,
        approve,
        approve_unheard,
        results,
        reject,
        cancel,
        expire,
        overdue,
        long_ago,
        execute,
        resume,
        outdate,
        append,
        append_widely,
        append_and_hold,
        written,
        tamper,
        keep,
        verify,
        toggle,
        call,
        save_rule,
        call_often,
        call_until_terminated,
        call_and_roll_back,
        fork_and_call,
        hide_usage,
        hold_usage,
        usage,
        forget_usage,
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


def install() -> None:
    """Make the modules of the stage those of this process, whose runtime ends with it like that of any project."""
    registry = Registry()
    for module_id, module in {**stage.MODULES, "test.groups.slow": create_slowly}.items():
        registry.register(module_id, module)
    use_system_modules()
    acl = None if os.environ.get("RACE_ACL") == "database" else allow_all()
    runtime.replace(runtime.build(registry=registry, acl=acl))
    use_queue(os.environ.get("RACE_QUEUE"))


def main() -> None:
    install()
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(act(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
