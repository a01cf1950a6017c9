"""When a failed task is tried again (§5.8 failed → pending, §8.6)."""

from __future__ import annotations

from dataclasses import dataclass

from apcore.errors import ModuleError, require_number
from apcore.modules import ModuleAnnotations


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how soon a task is tried again; delays are seconds.

    Only modules that are safe to repeat (idempotent or read-only), and only errors that do not say they are final
    (§8.6). The delay before attempt n+1 is ``first_delay * factor ** (n - 1)``, at most ``longest_delay``.
    Raises InvalidInputError for fewer than one attempt, a negative delay, a factor below 1, and what is no number.
    """

    max_attempts: int = 3
    first_delay: float = 0.5
    factor: float = 2.0
    longest_delay: float = 30.0

    def __post_init__(self) -> None:
        require_number("RetryPolicy: max_attempts", self.max_attempts, 1, whole=True)
        require_number("RetryPolicy: first_delay", self.first_delay, 0)
        require_number("RetryPolicy: factor", self.factor, 1)
        require_number("RetryPolicy: longest_delay", self.longest_delay, 0)

    def allows(self, error: ModuleError, annotations: ModuleAnnotations, attempts: int) -> bool:
        """Whether a module that failed like this, after so many attempts, may be called once more."""
        is_safe = annotations.idempotent or annotations.readonly
        return is_safe and error.retryable is not False and attempts < self.max_attempts

    def delay(self, attempts: int) -> float:
        """How many seconds to wait after so many attempts."""
        try:
            return min(self.longest_delay, self.first_delay * self.factor ** (attempts - 1))
        except OverflowError:
            return self.longest_delay


NEVER_AGAIN = RetryPolicy(max_attempts=1)
