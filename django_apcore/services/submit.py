"""Submit: hand a call to a worker (§5.8)."""

from collections.abc import Mapping
from typing import Any

from apcore.context import Context
from django_apcore.models import AsyncTask


def submit(module_id: str, inputs: Mapping[str, Any], context: Context) -> AsyncTask:
    """Store the call as a pending task and enqueue it after the commit.

    Unknown modules, denied callers and bad inputs are refused now, and checked again when the task runs. Raises what
    `Executor.validate` finds.
    """
    raise NotImplementedError
