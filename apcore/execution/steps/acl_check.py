"""Step 4: may this caller call this module (§6)?"""

from __future__ import annotations

import logging

from apcore.acl import ACL
from apcore.errors import ACLDeniedError
from apcore.pipeline import PipelineState

logger = logging.getLogger("apcore.acl")


class AclCheck:
    """Evaluates the rules; an executor without an ACL checks nothing (C-64)."""

    def __init__(self, acl: ACL | None) -> None:
        self._acl = acl

    async def run(self, state: PipelineState) -> None:
        """Raises ACLDeniedError. The caller learns that it was denied, the log why."""
        acl = self._acl
        if acl is None:
            return
        if acl.is_stale:
            await state.runner.call(acl.refresh)
        context = state.context
        if acl.has_async_conditions:
            decision = await state.runner.call(acl.evaluate_async, context.caller_id, state.module_id, context)
        else:
            decision = acl.evaluate(context.caller_id, state.module_id, context)
        if not decision.allowed:
            caller = context.caller_id or "@external"
            logger.info("Denied: %s -> %s (%s), trace %s", caller, state.module_id, decision.reason, context.trace_id)
            raise ACLDeniedError(
                f"{caller} may not call {state.module_id}", details={"caller_id": caller, "target_id": state.module_id}
            )
