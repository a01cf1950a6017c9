"""When a failed task is tried again (§5.8 failed → pending, §8.6)."""

from __future__ import annotations

from dataclasses import dataclass

from apcore.errors import InvalidInputError, ModuleError
from apcore.modules import ModuleAnnotations


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how soon a task is tried again; delays are seconds.

    Only modules that are safe to repeat (idempotent or read-only), and only errors that do not say they are final
    (§8.6). The delay before attempt n+1 is ``first_delay * factor ** (n - 1)``, at most ``longest_delay``.
    Raises InvalidInputError for fewer than one attempt, a negative delay or a factor below 1.
    """

    max_attempts: int = 3
    first_delay: float = 0.5
    factor: float = 2.0
    longest_delay: float = 30.0

    def __post_init__(self) -> None:
        if self.max_attempts < 1 or self.factor < 1 or min(self.first_delay, self.longest_delay) < 0:
            raise InvalidInputError(f"A retry policy needs an attempt, delays from 0 and a factor from 1: {self}")

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
