"""One call of a task's module, and what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from asgiref.sync import ThreadSensitiveContext

from apcore.errors import ExecutionCancelledError, ModuleError, propagate_error
from apcore.execution import Executor
from apcore.tasks.jobs import Job
from apcore.tasks.task import percentage

Report = Callable[[float, str], None]
Outcome = dict[str, Any] | ModuleError


async def attempt(executor: Executor, job: Job, report: Report) -> Outcome:
    """The module's output or the error that it ended with. Raises CancelledError when the event loop ends."""
    job.call = asyncio.create_task(_call(executor, job, report))
    try:
        return await job.call
    except asyncio.CancelledError:
        step = asyncio.current_task()
        if step is not None and step.cancelling():
            raise
        return ExecutionCancelledError("Execution was cancelled where it awaited something", module_id=job.module_id)
    except ModuleError as error:
        return error
    except Exception as error:  # noqa: BLE001 - whatever it is, it is this task's end
        return propagate_error(error, job.module_id, job.origin)
    finally:
        job.call = None


async def _call(executor: Executor, job: Job, report: Report) -> dict[str, Any]:
    def progress(done: float, total: float | None = None, message: str = "") -> None:
        report(percentage(done, total), message)

    job.token.check()
    async with ThreadSensitiveContext():  # a thread of its own, if it needs one
        return await executor.call_async(job.module_id, job.inputs(), job.context(progress))
