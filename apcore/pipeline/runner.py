"""The port through which the pipeline runs code that is not its own."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from types import CoroutineType
from typing import Any, Protocol

from apcore.approval import ApprovalRequest, ApprovalResult
from apcore.context import CancelToken, Context
from apcore.effects import EffectRecord
from apcore.modules.definition import ModuleDefinition
from apcore.redaction import SensitiveValues


@dataclass(slots=True)  # not frozen: one is made for every call, and freezing it takes longer than the rest of it
class Invocation:
    """One run of a module: what a runner needs to put a transaction around it.

    ``grant`` is the approval under which it runs, if any. ``is_streaming`` says that chunks may leave before it ends.
    """

    definition: ModuleDefinition
    inputs: Mapping[str, Any] = field(repr=False)  # may hold secrets
    original_inputs: Mapping[str, Any] | None = field(repr=False)
    context: Context
    grant: ApprovalResult | None = None
    is_streaming: bool = False

    @property
    def secrets(self) -> SensitiveValues:
        """What its inputs hold and nobody may be shown, wherever the module puts it."""
        return SensitiveValues.of(self.inputs, self.definition.input_validator.mask, self.context.sensitive_keys)

    def approval_request(self, effect: EffectRecord | None) -> ApprovalRequest:
        """The question that a handler is asked about this invocation (§7.3.1)."""
        definition = self.definition
        return ApprovalRequest(
            module_id=definition.module_id,
            arguments=self.inputs,
            context=self.context,
            annotations=replace(definition.annotations, requires_approval=True),
            description=definition.description,
            tags=list(definition.tags),
            effect=effect,
            original_arguments=self.original_inputs,
            definition=definition,
        )


Body = Callable[["Runner"], Awaitable[Any]]
"""Runs the module with the runner that it is given, output validation included, and returns the output."""


class Runner(Protocol):
    """Runs foreign code: modules, middleware, handlers, conditions, previews.

    Under a sync runner nothing ever suspends, so a sync call is one step of one coroutine, on the caller's thread.
    """

    async def call(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Run ``function``, sync or async, and return its result."""
        ...

    def call_within(self, deadline: float | None, context: Context, function: Callable[..., Any], /, *args: Any) -> Any:
        """Run ``function`` until ``deadline`` (monotonic seconds). Raises ModuleTimeoutError past it (§12.7.5).

        Returns what it returned, or a coroutine that does where one has to wait.
        """
        ...

    def iterate(
        self, deadline: float | None, context: Context, function: Callable[..., Any], /, *args: Any
    ) -> AsyncGenerator[Any, None]:
        """What the generator ``function``, sync or async, yields until ``deadline``; it is closed with the reading."""
        ...

    async def pause(self, seconds: float, token: CancelToken | None) -> None:
        """Let time pass, less of it when ``token`` is cancelled meanwhile."""
        ...

    async def can_run_again(self) -> bool:
        """Whether a module that failed just now can run once more where this call is made."""
        ...

    def execute(self, invocation: Invocation, body: Body) -> Awaitable[None]:
        """Run ``body`` in whatever transaction this process gives to the module.

        With a grant, whoever implements this consumes it and commits the effect in one transaction, or raises.
        """
        ...

    async def measure(self, invocation: Invocation, body: Body) -> EffectRecord | None:
        """Run ``body`` under capture and undo it; None when this process cannot measure."""
        ...


async def settled(result: Any) -> Any:
    """What ``call_within()`` returned, awaited where one has to wait for it."""
    return await result if type(result) is CoroutineType else result
