"""What a middleware may implement (§11.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from apcore.context import Context
from apcore.errors import InvalidInputError, ModuleError

DEFAULT_PRIORITY: Final = 100


class Middleware:
    """An optional base class; any object with some of these methods will do, sync or async (§11.1).

    Instances serve all calls at once: state of one call belongs into ``context.data``, not on ``self`` (§12.7.6).
    ``id`` is the name under which it is registered, ``priority`` 0 to 1000; higher runs further out, equal ones keep
    the order of registration (§11.2). Only one with ``can_retry`` may answer an error with a `Retry`.
    """

    id: ClassVar[str | None] = None
    priority: int = DEFAULT_PRIORITY
    can_retry: ClassVar[bool] = False

    def before(self, module_id: str, inputs: dict[str, Any], context: Context) -> Any:
        """Runs before the module. A returned dict replaces the inputs; None leaves them; raising aborts (§11.8.2)."""
        return None

    def after(self, module_id: str, inputs: dict[str, Any], output: dict[str, Any], context: Context) -> Any:
        """Runs after the module. A returned dict replaces the output; None leaves it (§11.8.3)."""
        return None

    def on_error(self, module_id: str, inputs: dict[str, Any], error: ModuleError, context: Context) -> Any:
        """Runs when the call failed. A returned value becomes the output; None lets the error go on (§11.8.1)."""
        return None


@dataclass(frozen=True, slots=True)
class Retry:
    """What ``on_error()`` returns to have the call tried once more, ``after`` seconds from now (§11.1, §8.6).

    Every layer further in, and the module, run again with the inputs that this layer handed on; access check and
    approval do not. The executor refuses it, and lets the error go on, where a second run is not safe.
    Raises InvalidInputError for what is no time to wait.
    """

    after: float = 0.0

    def __post_init__(self) -> None:
        after: object = self.after
        if not isinstance(after, int | float) or isinstance(after, bool) or not 0 <= after < math.inf:
            raise InvalidInputError(f"Retry: after is a number of seconds from 0 on, not {after!r} (§11.1)")
