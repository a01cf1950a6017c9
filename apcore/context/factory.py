"""How web frameworks make a context from a request (§12.2)."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from apcore.context.context import Context


@runtime_checkable
class ContextFactory(Protocol):
    """Turns a framework's request into a Context, so that the core knows no framework (§12.2)."""

    def create_context(self, request: Any) -> Context:
        """The context of a top-level call that this request makes."""
        ...
