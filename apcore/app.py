"""The composition root: the only place that wires the rooms together (DESIGN §3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from apcore.acl import ACL
from apcore.approval import ApprovalHandler
from apcore.events import EventEmitter
from apcore.execution import AsyncRunner, Executor, ExecutorSettings, SyncRunner
from apcore.execution.executor import RunnerFactory
from apcore.registry import Registry, bridge_events
from apcore.telemetry.error_history import ErrorHistory
from apcore.telemetry.usage import UsageCollector
from apcore.toggles import Toggles


@dataclass(frozen=True, slots=True)
class App:
    """Everything in one process that has state: who may call, what is registered, what is switched off, who calls."""

    registry: Registry
    acl: ACL | None
    toggles: Toggles
    approval_handler: ApprovalHandler | None
    executor: Executor
    events: EventEmitter
    usage: UsageCollector
    error_history: ErrorHistory


def build_app(
    *,
    registry: Registry | None = None,
    acl: ACL | None = None,
    toggles: Toggles | None = None,
    approval_handler: ApprovalHandler | None = None,
    middlewares: Iterable[Any] = (),
    config: ExecutorSettings | Mapping[str, Any] | None = None,
    runners: tuple[RunnerFactory, RunnerFactory] = (SyncRunner, AsyncRunner),
    events: EventEmitter | None = None,
    usage: UsageCollector | None = None,
    error_history: ErrorHistory | None = None,
) -> App:
    """An app from its parts; what is not given is new and empty. Without ``acl`` every call is allowed (C-64)."""
    registry = Registry() if registry is None else registry
    toggles = Toggles() if toggles is None else toggles
    events = EventEmitter() if events is None else events
    usage = UsageCollector() if usage is None else usage
    error_history = ErrorHistory() if error_history is None else error_history
    executor = Executor(
        registry,
        acl=acl,
        approval_handler=approval_handler,
        middlewares=middlewares,
        config=config,
        toggles=toggles,
        runners=runners,
        events=events,
    )
    bridge_events(registry, events)
    return App(registry, acl, toggles, approval_handler, executor, events, usage, error_history)
