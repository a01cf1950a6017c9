"""Every run of a module is counted, and nothing else."""

import asyncio
import threading
from typing import Any

import pytest

from apcore import ACL, ApprovalResult, Context, Identity, module
from apcore.app import App
from apcore.errors import ACLDeniedError, ApprovalPendingError, ModuleError, SchemaValidationError
from apcore.middleware import Middleware
from apcore.middleware.builtin.usage import UsageMiddleware
from apcore.telemetry.usage import UsageCollector
from apcore.testing import app_with


@module(id="t.plain")
def plain(fail: bool = False) -> dict[str, Any]:
    """Succeed or fail."""
    if fail:
        raise ModuleError("no", code="NO")
    return {}


@module(id="t.outer")
def outer(context: Context) -> dict[str, Any]:
    """Call the plain module twice."""
    context.executor.call("t.plain", {}, context)
    return dict(context.executor.call("t.plain", {}, context))


@module(id="t.slow")
async def slow(context: Context) -> dict[str, Any]:
    """Call the plain module several times at once."""
    await asyncio.gather(*(context.executor.call_async("t.plain", {}, context) for _ in range(5)))
    return {}


class Recovering(Middleware):
    def on_error(self, *args: Any) -> dict[str, Any]:
        return {"recovered": True}


class FailingAfter(Middleware):
    def after(self, *args: Any) -> None:
        raise ModuleError("after")


def make(*others: Any, **parts: Any) -> App:
    usage = UsageCollector()
    return app_with(plain, outer, slow, middlewares=[UsageMiddleware(usage), *others], usage=usage, **parts)


def counted(app: App, module_id: str = "t.plain") -> tuple[int, int]:
    figures = app.usage.module(module_id).figures
    return figures.call_count, figures.error_count


@pytest.mark.req("R-10.4-02")
def test_successes_and_failures_are_counted() -> None:
    app = make()
    app.executor.call("t.plain", {})
    with pytest.raises(ModuleError):
        app.executor.call("t.plain", {"fail": True})
    assert counted(app) == (2, 1)
    assert app.usage.module("t.plain").figures.avg_latency_ms


def test_calls_are_counted_by_the_kind_of_their_caller() -> None:
    app = make()
    app.executor.call("t.plain", {}, Context.create(identity=Identity("1", "agent")))
    app.executor.call("t.plain", {})
    assert {kind: each.call_count for kind, each in app.usage.module("t.plain").callers.items()} == {
        "agent": 1,
        "anonymous": 1,
    }


def test_nested_calls_count_for_both_modules() -> None:
    app = make()
    app.executor.call("t.outer", {})
    assert (counted(app, "t.outer"), counted(app)) == ((1, 0), (2, 0))


def test_calls_of_one_chain_at_the_same_time_do_not_mix_up() -> None:
    app = make()
    asyncio.run(app.executor.call_async("t.slow", {}))
    assert (counted(app, "t.slow"), counted(app)) == ((1, 0), (5, 0))


def test_inputs_that_do_not_fit_are_an_error_of_the_call() -> None:
    app = make()
    with pytest.raises(SchemaValidationError):
        app.executor.call("t.plain", {"fail": "x"})
    assert counted(app) == (1, 1)


def test_what_was_refused_before_the_module_is_no_run_of_it() -> None:
    app = make(acl=ACL([], default_effect="deny"))
    with pytest.raises(ACLDeniedError):
        app.executor.call("t.plain", {})
    assert counted(app) == (0, 0)


def test_a_run_that_was_undone_to_wait_for_a_person_is_no_call_and_leaves_no_clock_running() -> None:
    @module(id="t.drifted")
    def drifted(again: bool = False) -> dict[str, Any]:
        """Find another effect than the approved one, as a worker may."""
        if again:
            return {}
        raise ApprovalPendingError(result=ApprovalResult(status="pending", approval_id="a-1"))

    app = make()
    app.registry.register("t.drifted", drifted)
    context = Context.create()
    with pytest.raises(ApprovalPendingError):
        app.executor.call("t.drifted", {}, context)
    assert counted(app, "t.drifted") == (0, 0)
    app.executor.call("t.drifted", {"again": True}, context)
    assert counted(app, "t.drifted") == (1, 0)


def test_a_failure_that_somebody_recovers_from_is_still_one_of_the_module() -> None:
    app = make(Recovering())
    assert app.executor.call("t.plain", {"fail": True}) == {"recovered": True}
    assert counted(app) == (1, 1)


def test_a_success_that_fails_further_out_is_counted_once() -> None:
    app = make(FailingAfter())
    with pytest.raises(ModuleError):
        app.executor.call("t.plain", {})
    assert counted(app) == (1, 0)


def test_a_rehearsal_is_no_call() -> None:
    app = make()
    context = Context.create().rehearsal()
    app.executor.call("t.outer", {}, context)
    assert counted(app, "t.outer") == counted(app) == (0, 0)


def test_threads_that_share_a_context_lose_nothing() -> None:
    app = make()
    context = Context.create()

    def call() -> None:
        for _ in range(100):
            app.executor.call("t.plain", {}, context)

    threads = [threading.Thread(target=call) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert counted(app) == (800, 0)
    assert not any(value for key, value in context.data.items() if key.startswith("_apcore.usage"))
