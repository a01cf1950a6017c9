"""The executor and everything that one call passes through (§7.4, §12.2)."""

from apcore.execution.executor import Executor
from apcore.execution.merging import deep_merge, deep_merge_chunks
from apcore.execution.preflight import PreflightCheckResult, PreflightResult
from apcore.execution.runners import AsyncRunner, SyncRunner, drive
from apcore.execution.settings import ExecutorSettings
from apcore.execution.steps import Rewrite
from apcore.execution.steps.approval_gate import RESUMED_NOTE
from apcore.execution.steps.input_rewrite import REWRITE_NOTE
from apcore.execution.streaming import Chunk, Paused, hand_out

__all__ = [
    "RESUMED_NOTE",
    "REWRITE_NOTE",
    "AsyncRunner",
    "Chunk",
    "Executor",
    "ExecutorSettings",
    "Paused",
    "PreflightCheckResult",
    "PreflightResult",
    "Rewrite",
    "SyncRunner",
    "deep_merge",
    "deep_merge_chunks",
    "drive",
    "hand_out",
]
