"""Step 2: no endless chains (§5.9, §9.1.1, C-32)."""

from __future__ import annotations

from apcore.errors import CallDepthExceededError, CallFrequencyExceededError, CircularCallError
from apcore.execution.settings import Limits
from apcore.pipeline import PipelineState


class CallChainGuard:
    """Checks depth, then circles, then frequency."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def run(self, state: PipelineState) -> None:
        """Raises CallDepthExceededError, CircularCallError or CallFrequencyExceededError.

        A module that comes back through another module is a circle; one that calls itself directly is counted.
        """
        chain = state.context.call_chain
        if len(chain) == 1:
            return
        limits = self._limits.settings
        if len(chain) > limits.max_call_depth:
            raise CallDepthExceededError(
                f"The call chain is {len(chain)} deep; {limits.max_call_depth} is the limit",
                details={"call_chain": list(chain)},
            )
        module_id = chain[-1]
        if module_id not in chain[:-1]:
            return
        if any(between != module_id for between in chain[chain.index(module_id) :]):
            raise CircularCallError(
                f"Module {module_id!r} is called again through itself", details={"call_chain": list(chain)}
            )
        if chain.count(module_id) > limits.max_module_repeat:
            raise CallFrequencyExceededError(
                f"Module {module_id!r} calls itself more than {limits.max_module_repeat} times",
                details={"call_chain": list(chain)},
            )
