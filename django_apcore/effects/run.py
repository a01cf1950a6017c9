"""Running a module so that everything it does is known before it is committed, or rolled back."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from uuid import UUID

from django.apps import apps
from django.contrib.auth.base_user import AbstractBaseUser
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from apcore.effects import EffectRecord
from apcore.redaction import NO_SECRETS, SensitiveValues
from django_apcore.conf import get_settings
from django_apcore.effects.active import is_governed
from django_apcore.effects.database.transactions import transaction_on
from django_apcore.effects.held.files import taken_back_unless
from django_apcore.effects.held.outbox import write_outbox
from django_apcore.effects.recording import Recording, field_name


class Governed:
    """What `governed()` gives: the record, as soon as there is one."""

    def __init__(self) -> None:
        self._record: EffectRecord | None = None

    @property
    def record(self) -> EffectRecord:
        """The effect of the block. Raises RuntimeError before the block has ended, or if it failed."""
        if self._record is None:
            raise RuntimeError("The effect is known when the governed block has ended without an error.")
        return self._record

    @record.setter
    def record(self, record: EffectRecord) -> None:
        self._record = record


@contextmanager
def governed(
    *,
    commit: bool,
    first: Callable[[], None] | None = None,
    last: Callable[[EffectRecord], None] | None = None,
    aliases: Sequence[str] | None = None,
    listed: int | None = None,
    volatile: Collection[tuple[str, str]] = (),
    lock_timeout_ms: int | None = None,
    approval_id: UUID | str | None = None,
    secrets: SensitiveValues = NO_SECRETS,
) -> Iterator[Governed]:
    """Run the block in one transaction per database, record what it does, then commit it or roll it back.

    `first` runs inside the transactions before recording starts, and `last` after it has ended: what they write does
    not count. An error from `last` rolls everything back. Inside a caller's transaction, savepoints take its place.
    `aliases` are the databases to take part, by default all; the others may only be read. `volatile` names fields, as
    `("app.Model", "field")`, that differ at every run, besides those of the settings and the password hashes of users,
    which are salted. `listed` and `lock_timeout_ms`
    (milliseconds) have their defaults in the settings too. No change shows any of the `secrets`. Mail and tasks of a
    committed block go to the outbox, with `approval_id` as their reason.

    Raises TransactionEndedError if the block ended or broke its transaction, IntegrityError for constraints that were
    deferred, and RuntimeError inside another governed block. A block that tries something which cannot be followed
    gets UngovernedWriteError or OutsideEffectError, and its record is incomplete.
    """
    if is_governed():
        raise RuntimeError("governed() cannot be nested: the outer block already records everything.")
    settings = get_settings()
    timeout = settings.lock_timeout_ms if lock_timeout_ms is None else lock_timeout_ms
    enrolled = [connections[alias] for alias in (aliases or connections)]
    result = Governed()
    with ExitStack() as stack:
        files = stack.enter_context(taken_back_unless(commit))
        gaps = [gap for each in enrolled for gap in stack.enter_context(transaction_on(each, timeout))]
        if first is not None:
            first()
        differing = {*volatile, *map(field_name, settings.volatile_fields), *_password_hashes()}
        recording = Recording(enrolled, commits=commit, files=files, volatile=differing, gaps=gaps, secrets=secrets)
        with recording.active():
            yield result
            result.record = recording.record(settings.effect_listed if listed is None else listed)
        if last is not None:
            last(result.record)
        if commit:
            recording.keep_books()
            recording.release()
            write_outbox(recording.held, enrolled, approval_id)
        else:
            _roll_back(enrolled)


@cache
def _password_hashes() -> frozenset[tuple[str, str]]:
    users = [each for each in apps.get_models() if issubclass(each, AbstractBaseUser)]
    return frozenset(
        (each._meta.label, "password")
        for each in users
        if any(field.name == "password" for field in each._meta.local_fields)
    )


def _roll_back(enrolled: Sequence[BaseDatabaseWrapper]) -> None:
    for connection in enrolled:
        transaction.set_rollback(True, using=connection.alias)
