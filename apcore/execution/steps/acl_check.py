"""Step 4: may this caller call this module (§6)?"""

from __future__ import annotations

import logging

from apcore.acl import ACL, caller_is_listed
from apcore.errors import ACLDeniedError
from apcore.pipeline import PipelineState

logger = logging.getLogger("apcore.acl")


class AclCheck:
    """The access list and the module's own `allowed_callers` must both allow; without either all is allowed (C-64)."""

    def __init__(self, acl: ACL | None) -> None:
        self._acl = acl

    async def run(self, state: PipelineState) -> None:
        """Raises ACLDeniedError. The caller learns that it was denied, the log why."""
        reason = await self._reason_to_deny(state)
        if reason is None:
            return
        context = state.context
        caller = context.caller_id or "@external"
        logger.info("Denied: %s -> %s (%s), trace %s", caller, state.module_id, reason, context.trace_id)
        raise ACLDeniedError(
            f"{caller} may not call {state.module_id}", details={"caller_id": caller, "target_id": state.module_id}
        )

    async def _reason_to_deny(self, state: PipelineState) -> str | None:
        acl, context, accepted = self._acl, state.context, state.definition.allowed_callers
        if accepted is not None and not caller_is_listed(accepted, context.caller_id, context):
            return "not among the module's allowed_callers"
        if acl is None:
            return None
        if acl.is_stale:
            await state.runner.call(acl.refresh)
        if acl.has_async_conditions:
            decision = await state.runner.call(acl.evaluate_async, context.caller_id, state.module_id, context)
        else:
            decision = acl.evaluate(context.caller_id, state.module_id, context)
        return None if decision.allowed else decision.reason
