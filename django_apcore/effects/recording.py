"""Everything that happens between the start and the end of one governed block."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import Any

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import ForeignKey
from django.utils import timezone

from apcore.effects import EffectRecord
from apcore.modules import Change
from apcore.redaction import SensitiveValues
from django_apcore.conf import get_settings
from django_apcore.effects.active import HeldMessage, Run, current_run
from django_apcore.effects.canonical.columns import Window
from django_apcore.effects.canonical.drafts import Drafter, FieldName
from django_apcore.effects.canonical.labels import Labels
from django_apcore.effects.canonical.net import changes_of
from django_apcore.effects.database.bystanders import only_read
from django_apcore.effects.database.capture import Capture
from django_apcore.effects.database.ledger import Gate, Mode
from django_apcore.effects.database.transactions import clock_of
from django_apcore.effects.errors import TransactionEndedError
from django_apcore.effects.held.background import sends_task
from django_apcore.effects.held.cache import write_caches
from django_apcore.effects.held.files import HeldFile, deletions, file_changes
from django_apcore.effects.outside.threads import left_running

_UNWATCHED = ("already_open", "native_code", "threads")
"""Side effects that nothing looks at."""

_CLOCK_TICK = timedelta(milliseconds=1)
"""Databases cut times off after the millisecond, so a time of the run may seem that much too early."""


def field_name(dotted: str) -> FieldName:
    """`app.Model.field` as the pair that names a field here."""
    model, _dot, name = dotted.rpartition(".")
    return model, name


class Recording:
    """Records what one block does through this thread's connections, which must be inside transactions.

    `commits` says whether it is to be committed, and `files` is where what it does to files is noted. `volatile` are
    fields that differ at every run, `gaps` what is known from the start to be missing, and `secrets` what no change may
    show.
    """

    def __init__(
        self,
        enrolled: Sequence[BaseDatabaseWrapper],
        *,
        commits: bool,
        files: list[HeldFile],
        volatile: Collection[FieldName],
        gaps: Collection[str],
        secrets: SensitiveValues,
    ) -> None:
        self._volatile = frozenset(volatile)
        self._gaps = list(gaps)
        self._secrets = secrets
        self._gate = Gate()
        self._run = Run(commits, files=files, connections=frozenset(map(id, connections.all())))
        self._captures = [Capture(connection, self._gate) for connection in enrolled]
        self._callbacks_before = {each.alias: len(each.run_on_commit) for each in enrolled}
        self._start = self._clocks()

    @property
    def held(self) -> Sequence[HeldMessage]:
        """The messages that wait for the commit."""
        return self._run.held

    def keep_books(self) -> None:
        """Write what goes with the effect, after it was recorded."""
        for write in self._run.books:
            write()

    def release(self) -> None:
        """Have caches and storages follow after the commit, before the callbacks that the block registered."""
        calls = [call for cache in self._run.caches.values() for call in cache.calls]
        if calls := [*calls, *deletions(self._run.files)]:
            connection = self._captures[0].connection
            entry: Any = (set(connection.savepoint_ids), partial(write_caches, calls), True)  # with `robust`
            connection.run_on_commit.insert(self._callbacks_before[connection.alias], entry)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Record while this is open."""
        enrolled = {capture.alias for capture in self._captures}
        with ExitStack() as stack:
            for capture in self._captures:
                stack.enter_context(capture.installed())
            for alias in set(connections) - enrolled:
                stack.enter_context(only_read(connections[alias], self._gaps))
            stack.enter_context(_current(self._run))
            yield

    def record(self, listed: int) -> EffectRecord:
        """What was done, when the block has ended. Raises TransactionEndedError and IntegrityError."""
        for capture in self._captures:
            if capture.connection.needs_rollback:
                raise TransactionEndedError(
                    "The transaction is broken: the module caught a database error outside of atomic(), "
                    "or closed the connection.",
                    details={"database": capture.alias},
                )
        self._gaps += left_running(self._run)  # first of all: a thread may do something until it has ended
        callbacks = list(chain.from_iterable(map(self._callbacks, self._captures)))
        with self._gate.set_to(Mode.OWN):
            for capture in self._captures:
                _check_constraints(capture)
                capture.close()
                self._gaps += capture.ledger.gaps
            return self._build(callbacks, listed)

    def _build(self, callbacks: Sequence[Change], listed: int) -> EffectRecord:
        sensitive = frozenset(map(field_name, get_settings().sensitive_fields))
        drafter = Drafter(self._run, self._window(), self._volatile, sensitive, gaps=self._gaps)
        labels = Labels(self._gate, {model for model, _name in sensitive})
        ledgers = [capture.ledger for capture in self._captures]
        changes = changes_of(ledgers, self._run.held, drafter, labels)
        return EffectRecord.build(
            "measured",
            chain(changes, file_changes(self._run.files), callbacks),
            gaps=self._all_gaps(),
            unwatched=self._unwatched(),
            listed=listed,
            secrets=self._secrets,
        )

    def _all_gaps(self) -> Iterator[str]:
        """Each gap once. Lazy, since some are found only while the changes are read."""
        yield from sorted({*self._gaps, *self._run.refused})

    def _unwatched(self) -> Iterator[str]:
        """What nobody looked at: what is so in every run, what the settings allow, and what this run has used."""
        yield from _UNWATCHED
        yield from (f"network:{host}" for host in get_settings().reachable_hosts)
        if any(cache.was_used for cache in self._run.caches.values()):
            yield "cache"

    # -- after the commit ---------------------------------------------------------------------------------------------

    def _callbacks(self, capture: Capture) -> list[Change]:
        """The on_commit callbacks of the block. Those that only send a task are held as that task instead."""
        registered = capture.connection.run_on_commit
        start = self._callbacks_before[capture.alias]
        changes, kept = [], []
        for entry in registered[start:]:
            callback = entry[1]
            if sends_task(callback):
                callback()
            else:
                kept.append(entry)
                changes.append(_callback_change(capture.alias, callback))
        registered[start:] = kept
        return changes

    # -- time ---------------------------------------------------------------------------------------------------------

    def _window(self) -> Window:
        end = self._clocks()
        began = frozenset(began for _now, began in end if began is not None)
        return Window(min(now for now, _ in self._start) - _CLOCK_TICK, max(now for now, _ in end), began)

    def _clocks(self) -> list[tuple[datetime, datetime | None]]:
        """What time it is, by the clock of this machine and of each database."""
        clocks = [clock for capture in self._captures if (clock := clock_of(capture.connection))]
        return [(timezone.now(), None), *clocks]


@contextmanager
def _current(run: Run) -> Iterator[None]:
    token = current_run.set(run)
    try:
        yield
    finally:
        run.open = False
        current_run.reset(token)


def _callback_change(alias: str, callback: Callable[..., Any]) -> Change:
    while isinstance(callback, partial):
        callback = callback.func
    named = callback if hasattr(callback, "__qualname__") else type(callback)
    name = f"{named.__module__}.{named.__qualname__}"
    extras = {"x-kind": "on_commit"} if alias == DEFAULT_DB_ALIAS else {"x-kind": "on_commit", "x-alias": alias}
    return Change("run", f"on_commit:{name}", f"Run {name} after the commit", **extras)


def _check_constraints(capture: Capture) -> None:
    """Let deferred constraints and triggers speak now instead of at COMMIT."""
    connection, written = capture.connection, capture.written_tables()
    if connection.vendor != "sqlite":
        connection.check_constraints()
    elif written:
        # SQLite can only look through whole tables: those written, and those that refer to them
        referring = {
            model._meta.db_table
            for model in apps.get_models(include_auto_created=True)
            for field in model._meta.local_fields
            if isinstance(field, ForeignKey) and field.target_field.model._meta.db_table in written
        }
        existing = set(connection.introspection.table_names())
        connection.check_constraints(table_names=sorted((written | referring) & existing))
