"""Overrides for tests of projects that use django_apcore."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from apcore.acl import ACL
from apcore.approval import ApprovalHandler
from apcore.modules import FunctionModule
from apcore.registry import Registry
from apcore.toggles import Toggles
from django_apcore import runtime, services
from django_apcore.discovery import register_modules
from django_apcore.models import ApprovalRequest, AsyncTask
from django_apcore.runtime import Runtime
from django_apcore.stores import DatabaseFlusher


@contextmanager
def override_runtime(
    *,
    modules: Iterable[FunctionModule] | Mapping[str, Any] = (),
    installed: bool = True,
    acl: ACL | None = None,
    approval_handler: ApprovalHandler | None = None,
    toggles: Toggles | None = None,
) -> Iterator[Runtime]:
    """Use another runtime as long as the block, or the decorated function, runs.

    `modules` are registered besides those of the installed apps, or alone with `installed=False`: function modules, or
    a mapping of IDs to modules. Parts that are not given are those of the settings. What is counted of the calls
    stays in memory. Example:

        with override_runtime(modules=[reprice], acl=allow_all()) as runtime:
            runtime.executor.call("store.catalogue.reprice", {"genre": "Jazz", "percent": 5})
    """
    registry = Registry()
    if installed:
        register_modules(registry)
    named = modules if isinstance(modules, Mapping) else {module.id: module for module in modules}
    for module_id, module in named.items():
        registry.register(module_id, module)
    quiet = DatabaseFlusher(0)
    built = runtime.build(registry=registry, acl=acl, approval_handler=approval_handler, toggles=toggles, flusher=quiet)
    previous = runtime.replace(built)
    try:
        yield built
    finally:
        runtime.replace(previous)


def allow_all() -> ACL:
    """An access list that lets everybody call everything."""
    return ACL([{"callers": ["*", "@external"], "targets": ["*"], "effect": "allow"}])


def work_off() -> tuple[list[ApprovalRequest], list[AsyncTask]]:
    """Do in this process what workers would do now: execute approved requests, and run pending tasks."""
    approved = ApprovalRequest.objects.filter(status=ApprovalRequest.Status.APPROVED).values_list("pk", flat=True)
    requests = [services.execute_approved(pk) for pk in list(approved)]
    pending = AsyncTask.objects.filter(status=AsyncTask.Status.PENDING).values_list("pk", flat=True)
    return requests, [services.run_task(pk) for pk in list(pending)]
