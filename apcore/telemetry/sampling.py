"""Which traces are recorded (§10.7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

SamplingStrategy = Literal["full", "proportional", "error_first", "off"]
Decision = Literal["record", "hold", "drop"]
"""``hold`` keeps the spans of a trace until its root ends, and records them if one of its calls failed."""

_RANDOM_BITS: Final = 56
"""So many low bits of a trace ID are random by W3C Trace Context; OpenTelemetry's own samplers look at them as well."""


@dataclass(frozen=True, slots=True)
class Sampler:
    """Decides once per trace, from its ID: who sees the same trace with the same rate decides the same (§10.7).

    ``full`` records everything. A rate below 1 makes it ``proportional``, since the protocol's table sets only the
    rate. ``error_first`` records the share of ``proportional``, and of the others those in which a call failed.
    """

    strategy: SamplingStrategy
    rate: float = 1.0

    def decide(self, trace_id: str) -> Decision:
        """What becomes of a new trace."""
        if self.strategy == "off":
            return "drop"
        if self._is_in_share(trace_id):
            return "record"
        return "hold" if self.strategy == "error_first" else "drop"

    def _is_in_share(self, trace_id: str) -> bool:
        drawn = int(trace_id, 16) & ((1 << _RANDOM_BITS) - 1)
        return drawn < self.rate * (1 << _RANDOM_BITS)
