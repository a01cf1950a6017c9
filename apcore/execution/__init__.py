"""The executor and everything that one call passes through (§7.4, §12.2)."""

from apcore.execution.executor import Executor
from apcore.execution.preflight import PreflightCheckResult, PreflightResult
from apcore.execution.runners import AsyncRunner, SyncRunner, drive
from apcore.execution.settings import ExecutorSettings
from apcore.execution.steps import Rewrite
from apcore.execution.steps.approval_gate import RESUMED_NOTE
from apcore.execution.steps.input_rewrite import REWRITE_NOTE

__all__ = [
    "RESUMED_NOTE",
    "REWRITE_NOTE",
    "AsyncRunner",
    "Executor",
    "ExecutorSettings",
    "PreflightCheckResult",
    "PreflightResult",
    "Rewrite",
    "SyncRunner",
    "drive",
]
