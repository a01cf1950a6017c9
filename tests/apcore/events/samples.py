"""Payloads for tests of events."""

from typing import Any

from apcore.events import CORE_EVENTS


def payload_of(name: str) -> dict[str, Any]:
    """A payload with the keys of an event of the framework; the values mean nothing."""
    return {key: "a.b" if key == "module_id" else f"some {key}" for key in CORE_EVENTS[name].keys}
