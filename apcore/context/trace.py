"""Trace IDs, interoperable with W3C Trace Context (§10.5)."""

from __future__ import annotations

import os
import random
import re
from dataclasses import dataclass
from typing import Final

# Not `os.urandom`: it lets go of the interpreter, so that each call of a busy process would wait for all other threads.
# Not `random` itself either, whose seed is the application's. IDs have to be different; no secret hangs on them.
_RANDOM: Final = random.Random()  # noqa: S311 - see above
os.register_at_fork(after_in_child=_RANDOM.seed)

_TRACE_ID = re.compile(r"[0-9a-f]{32}")
_INVALID_TRACE_IDS = frozenset({"0" * 32, "f" * 32})
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")


def new_trace_id() -> str:
    """A random 128-bit trace ID as 32 lower-case hex digits (§10.5)."""
    return f"{_RANDOM.getrandbits(128):032x}"


def new_span_id() -> int:
    """A random 64-bit span ID that is not zero (§10.5)."""
    return _RANDOM.getrandbits(64) | 1


def is_trace_id(value: object) -> bool:
    """Whether ``value`` is a valid trace ID: 32 lower-case hex digits, neither all zero nor all f (§10.5)."""
    return isinstance(value, str) and _TRACE_ID.fullmatch(value) is not None and value not in _INVALID_TRACE_IDS


@dataclass(frozen=True, slots=True)
class TraceParent:
    """The parts of a W3C ``traceparent`` header that a call continues (§10.5).

    With an empty ``span_id`` only the trace is known, and no span in it.
    """

    trace_id: str
    span_id: str
    flags: str = "01"

    @property
    def is_sampled(self) -> bool:
        """Whether the caller records this trace."""
        return bool(int(self.flags, 16) & 1)

    def to_header(self) -> str:
        """The header value, version 00."""
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"


@dataclass(frozen=True, slots=True)
class TraceLink:
    """An earlier call that asked for this one: the trace goes on, hours later perhaps, and nobody waits for it."""

    parent: TraceParent


def parse_traceparent(header: str | None) -> TraceParent | None:
    """Read a ``traceparent`` header; anything malformed is None, as W3C asks (§10.5)."""
    match = _TRACEPARENT.fullmatch(header.strip()) if isinstance(header, str) else None
    if match is None:
        return None
    trace_id, span_id, flags, rest = match.groups()
    if not is_trace_id(trace_id) or span_id == "0" * 16 or (rest and header is not None and header.startswith("00")):
        return None
    return TraceParent(trace_id, span_id, flags)
