"""What an access list must be able to do when somebody else's takes the place of ours (§11.6, §12.2)."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol, runtime_checkable

from apcore.context import Context


@runtime_checkable
class ACLChecker(Protocol):
    """Decides who may call what; sync or async. Only ``True`` allows: an error, or any other answer, denies."""

    def check(self, caller_id: str | None, target_id: str, context: Context) -> bool | Awaitable[bool]:
        """Whether the caller, None for one from outside, may call the target."""
        ...
