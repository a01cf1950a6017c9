"""The executor and everything that one call passes through (§7.4, §12.2)."""

from apcore.execution.executor import Executor
from apcore.execution.merging import deep_merge, deep_merge_chunks
from apcore.execution.model_boundary import ErrorKind, ExecutionResult, call_for_model, call_for_model_async
from apcore.execution.preflight import PreflightCheckResult, PreflightResult
from apcore.execution.runners import AsyncRunner, SyncRunner, drive
from apcore.execution.settings import ExecutorSettings
from apcore.execution.steps import Rewrite
from apcore.execution.steps.approval_gate import RESUMED_NOTE, approval_gate
from apcore.execution.steps.input_rewrite import REWRITE_NOTE
from apcore.execution.streaming import Chunk, Paused, hand_out
from apcore.execution.timeouts import enforce_timeout

__all__ = [
    "RESUMED_NOTE",
    "REWRITE_NOTE",
    "AsyncRunner",
    "Chunk",
    "ErrorKind",
    "ExecutionResult",
    "Executor",
    "ExecutorSettings",
    "Paused",
    "PreflightCheckResult",
    "PreflightResult",
    "Rewrite",
    "SyncRunner",
    "approval_gate",
    "call_for_model",
    "call_for_model_async",
    "deep_merge",
    "deep_merge_chunks",
    "drive",
    "enforce_timeout",
    "hand_out",
]
