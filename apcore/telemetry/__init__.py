"""Spans, metrics and structured logs of calls (§10)."""
