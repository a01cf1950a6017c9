"""What the steps of one call hand on to each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from apcore.approval import ApprovalResult
from apcore.context import Context
from apcore.modules.definition import ModuleDefinition
from apcore.pipeline.runner import Invocation, Runner


class PipelineState:
    """The working state of one call; a step reads what earlier steps wrote (§5.16.4).

    ``inputs`` are the effective inputs, ``original_inputs`` what the caller sent when a rewriter changed them.
    ``grant`` is the approval under which the module runs, ``sealed_inputs`` a copy of the inputs that it was given for.
    ``is_streaming`` says that the caller takes chunks, ``chunks`` how many it has been handed.
    ``outputs`` maps step names to what they returned, kept only
    when somebody watches with ``run_until``.
    """

    __slots__ = (
        "approval_asked",
        "chunks",
        "context",
        "definition",
        "dry_run",
        "grant",
        "inputs",
        "is_streaming",
        "module_id",
        "original_inputs",
        "outputs",
        "parent",
        "passage",
        "result",
        "run_until",
        "runner",
        "sealed_inputs",
        "step_name",
        "stopped",
        "token",
    )

    definition: ModuleDefinition
    context: Context

    def __init__(
        self,
        module_id: str,
        inputs: Mapping[str, Any] | None,
        parent: Context | None,
        runner: Runner,
        run_until: Callable[[PipelineState], bool] | None = None,
        dry_run: bool = False,
        is_streaming: bool = False,
    ) -> None:
        self.module_id = module_id
        self.inputs: Any = inputs
        self.parent = parent
        self.runner = runner
        self.run_until = run_until
        self.dry_run = dry_run
        self.is_streaming = is_streaming
        self.chunks = 0
        self.original_inputs: Mapping[str, Any] | None = None
        self.token: str | None = None
        self.approval_asked: str | None = None
        self.grant: ApprovalResult | None = None
        self.passage: Any = None  # the way through the middleware, a neighbouring room
        self.sealed_inputs: Mapping[str, Any] | None = None
        self.result: Any = None
        self.outputs: dict[str, Any] = {}
        self.step_name: str | None = None
        self.stopped = False

    @property
    def needs_approval(self) -> bool:
        """Whether this call needs a signature: by the module's annotation or because a rewriter asked (§7.4)."""
        return self.definition.requires_approval or self.approval_asked is not None

    def cancel(self, reason: str) -> None:
        """Tell whatever still runs for this call, in a thread perhaps, to stop."""
        context = getattr(self, "context", None)
        if context is not None and context.cancel_token is not None:
            context.cancel_token.cancel(reason)

    def invocation(self) -> Invocation:
        """The run of the module that this state has come to."""
        return Invocation(
            self.definition, self.inputs, self.original_inputs, self.context, self.grant, self.is_streaming
        )
