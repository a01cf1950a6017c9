"""When what calls left behind is written to the database."""

from django.db import router

from apcore.telemetry.flushing import Flusher
from django_apcore.models import UsageBucket
from django_apcore.stores._apart import is_in_memory


class DatabaseFlusher(Flusher):
    """Flushes on a thread of its own, and so neither in the transaction of a call nor in a measurement.

    With ``seconds`` 0 nothing is written by itself. Into a database in memory, as tests have, neither: nobody else
    could read it, and a second connection to it stands in the way of the first.
    """

    @property
    def is_idle(self) -> bool:
        """Whether nothing is written by itself."""
        return not self.seconds or is_in_memory(router.db_for_write(UsageBucket))

    def wake(self) -> None:
        """A buffer is not empty any more."""
        if not self.is_idle:
            super().wake()

    def stop(self) -> None:
        """Write what is pending, and start no thread any more. For the end of the process."""
        if not self.is_idle:
            super().stop()
