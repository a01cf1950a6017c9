"""How a Django process runs modules: in transactions, measured, and under an approval only what was approved."""

from __future__ import annotations

import hmac
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, aclosing, contextmanager, suppress
from functools import partial
from time import monotonic
from typing import Any

from asgiref.sync import sync_to_async
from django.db import DatabaseError, connections, router, transaction

from apcore.approval import ApprovalResult, EffectDriftError
from apcore.context import Context
from apcore.effects import EffectRecord
from apcore.errors import ApprovalPendingError, ModuleError, PipelineStepError, propagate_error
from apcore.events import Event, HeldEvents, held_events, hold_events
from apcore.execution import AsyncRunner, Chunk, Paused, SyncRunner, drive, hand_out
from apcore.execution.deadlines import Deadlines
from apcore.execution.windows import Shielded
from apcore.pipeline import Body, Invocation
from django_apcore.effects import governed
from django_apcore.exceptions import ApprovalConflict
from django_apcore.models import OutboxMessage
from django_apcore.services import (
    consume,
    fail,
    has_stored,
    may_pass,
    record_outcome,
    sqlstate_of,
    store_held,
    supersede,
)

_ATTEMPTS = 3
"""How often a transaction that another one got in the way of is run."""

_IN_THE_WAY = frozenset({"40001", "40P01"})
_THERE_ALREADY = frozenset({"23505", "23P01"})
"""A row that nobody saw stands in the place of a new one. Since the snapshot of a measured run another transaction may
have put it there: the next run sees it. If it was there all the time, that run fails in the same way."""


class DjangoSyncRunner(SyncRunner):
    """Runs modules on the caller's thread and connection; transactional ones inside ``atomic()``."""

    def call_within(self, deadline: float | None, context: Context, function: Callable[..., Any], /, *args: Any) -> Any:
        """Like the core's, and PostgreSQL gives up on a statement when the deadline passes (§12.7.5)."""
        with _statement_timeout(deadline):
            return super().call_within(deadline, context, function, *args)

    async def iterate(
        self, deadline: float | None, context: Context, function: Callable[..., Any], /, *args: Any
    ) -> AsyncGenerator[Any, None]:
        """Like the core's; PostgreSQL ends a transaction whose reader keeps a chunk past the deadline."""
        async with aclosing(super().iterate(deadline, context, function, *args)) as chunks:
            async for chunk in chunks:
                with _idle_timeout(deadline):
                    yield chunk

    async def can_run_again(self) -> bool:
        """Not in a transaction that a failed statement broke: all it can do is roll back."""
        return not _is_broken()

    async def execute(self, invocation: Invocation, body: Body) -> None:
        """Run ``body``; under a grant, consume the approval, run, measure, compare and commit as one transaction.

        Raises ApprovalPendingError when the effect is not the approved one: nothing was committed, and a request that
        supersedes the approved one waits for a decision.
        """
        if invocation.grant is not None:
            await self._execute_granted(invocation, body, invocation.grant)
        elif invocation.definition.effect == "transactional":
            with _telling_after_the_commit() as news, _atomic_everywhere():
                await body(self)
                news.store()
        else:
            await body(self)

    async def measure(self, invocation: Invocation, body: Body) -> EffectRecord | None:
        """Run ``body`` under capture and roll it back."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with _telling_nobody(), governed(commit=False, secrets=invocation.secrets) as run:
                    await body(self)
                return run.record
            except (DatabaseError, ModuleError) as error:
                if not _may_be_retried(error, attempt):
                    raise
        return None

    async def _execute_granted(self, invocation: Invocation, body: Body, grant: ApprovalResult) -> None:
        stored_id = _stored_id(grant)
        try:
            await self._commit(invocation, body, grant, stored_id)
        except Exception as error:
            original = error.original if isinstance(error, PipelineStepError) else error
            if isinstance(original, EffectDriftError) and stored_id is not None:
                raise _superseding(invocation, stored_id, original.effect) from None
            if stored_id is not None and not (isinstance(original, ApprovalConflict) or may_pass(original)):
                fail(stored_id, propagate_error(original, invocation.definition.module_id, invocation.context))
            raise

    async def _commit(self, invocation: Invocation, body: Body, grant: ApprovalResult, stored_id: str | None) -> None:
        is_measured = invocation.definition.effect == "transactional"
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with _telling_after_the_commit() as news:
                    if is_measured:
                        await self._commit_measured(invocation, body, grant, stored_id, news)
                    else:
                        await self._commit_unmeasured(body, stored_id, news)
                return
            except (DatabaseError, ModuleError) as error:
                if not _may_be_retried(error, attempt, has_snapshot=is_measured):
                    raise

    async def _commit_measured(
        self, invocation: Invocation, body: Body, grant: ApprovalResult, stored_id: str | None, news: _News
    ) -> None:
        expected, secrets = grant.effect_digest, invocation.secrets
        output: Any = None

        def first() -> None:
            if stored_id is not None:
                consume(stored_id)

        def last(record: EffectRecord) -> None:
            if expected is not None and not hmac.compare_digest(record.digest, expected):
                raise EffectDriftError(record)
            if stored_id is not None:
                record_outcome(stored_id, record, output)
            news.store()

        with governed(commit=True, first=first, last=last, approval_id=stored_id, secrets=secrets):
            output = await body(self)

    async def _commit_unmeasured(self, body: Body, stored_id: str | None, news: _News) -> None:
        """Plans and claims were compared by the execute step; what cannot be previewed has nothing to compare."""
        with _atomic_everywhere():
            if stored_id is not None:
                consume(stored_id)
            output = await body(self)
            if stored_id is not None:
                record_outcome(stored_id, None, output)
            news.store()


class DjangoAsyncRunner(AsyncRunner):
    """Awaits coroutines; whatever needs a transaction runs as one piece on the thread-sensitive thread."""

    def __init__(self, deadlines: Deadlines) -> None:
        super().__init__(deadlines)
        self._sync = DjangoSyncRunner(deadlines)

    async def can_run_again(self) -> bool:
        """Like the sync runner's; connections belong to the thread that modules run on."""
        return not await sync_to_async(_is_broken, thread_sensitive=True)()

    async def execute(self, invocation: Invocation, body: Body) -> None:
        """Like the sync runner's; other coroutines never see the inside of the transaction."""
        if invocation.grant is None and invocation.definition.effect != "transactional":
            await body(self)
        elif invocation.is_streaming:
            await _execute_in_parts(self._sync.execute(invocation, body))
        else:
            await sync_to_async(_drive_execute, thread_sensitive=True)(self._sync, invocation, body)

    async def measure(self, invocation: Invocation, body: Body) -> EffectRecord | None:
        """Like the sync runner's."""
        return await sync_to_async(_drive_measure, thread_sensitive=True)(self._sync, invocation, body)


async def _execute_in_parts(execution: Coroutine[Any, Any, None]) -> None:
    """Run an execution of the sync runner that hands out chunks, on the thread that has its transaction.

    Between two chunks that thread would be free for others. So it is a thread of its own, with connections of its own,
    unless a transaction around us is open on the thread-sensitive one: then the execution is a part of that.
    """
    if await sync_to_async(_is_in_transaction, thread_sensitive=True)():
        await _hand_on(execution, sync_to_async)
        return
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="apcore-stream") as own:
        on_own_thread: Callable[..., Any] = partial(sync_to_async, thread_sensitive=False, executor=own)
        try:
            await _hand_on(execution, on_own_thread)
        finally:
            await on_own_thread(connections.close_all)()


async def _hand_on(execution: Coroutine[Any, Any, None], on_its_thread: Callable[..., Any]) -> None:
    paused = Paused(execution)
    try:
        while isinstance(chunk := await on_its_thread(paused.next)(), Chunk):
            await hand_out(chunk.value)
    finally:
        await on_its_thread(paused.close)()


def _is_in_transaction() -> bool:
    opened = [each for each in connections.all(initialized_only=True) if each.connection is not None]
    return any(each.in_atomic_block or not each.get_autocommit() for each in opened)


def _drive_execute(runner: DjangoSyncRunner, invocation: Invocation, body: Body) -> None:
    with Shielded():
        drive(runner.execute(invocation, body))


def _drive_measure(runner: DjangoSyncRunner, invocation: Invocation, body: Body) -> EffectRecord | None:
    with Shielded():
        return drive(runner.measure(invocation, body))


def _stored_id(grant: ApprovalResult) -> str | None:
    """The ID of a stored request that this grant spends; grants of other handlers spend nothing."""
    return grant.approval_id if (grant.metadata or {}).get("stored") else None


def _superseding(invocation: Invocation, stored_id: str, effect: EffectRecord) -> ApprovalPendingError:
    """The error that tells the caller: not this effect; here is the request that waits for a new decision."""
    successor = supersede(stored_id, request=invocation.approval_request(effect), effect=effect, reason="drift")
    result = ApprovalResult(
        "pending", approval_id=str(successor.pk), reason="The effect is not the approved one any more"
    )
    return ApprovalPendingError(
        result,
        "The effect is not the approved one any more: nothing was committed, a new decision is needed",
        details={
            "approval_id": str(successor.pk),
            "supersedes": stored_id,
            "reason": "drift",
            "expires_at": successor.expires_at.isoformat(),
        },
    )


class _News:
    """The events of a block that a transaction surrounds."""

    def __init__(self) -> None:
        self.held = HeldEvents()
        self._is_outermost = held_events() is None
        self._stored: Sequence[Event] = ()

    def store(self) -> None:
        """Write down for webhooks what they are to get, at the end of the transaction and in it."""
        if self._is_outermost:
            self._stored = store_held(self.held)

    def release(self) -> None:
        """Tell everybody; what was written down is not written again."""
        with has_stored(self._stored):
            self.held.release()


@contextmanager
def _telling_after_the_commit() -> Iterator[_News]:
    """Keep the events of the block until it is committed; of one that fails, what happened all the same is told."""
    news = _News()
    try:
        with hold_events(news.held):
            yield news
    except BaseException:
        news.held.drop()
        raise
    connection = connections[router.db_for_write(OutboxMessage)]
    if connection.in_atomic_block and held_events() is None:
        connection.on_commit(news.release, robust=True)
    else:
        news.release()


@contextmanager
def _telling_nobody() -> Iterator[None]:
    """A rehearsal changes nothing, so there is nothing to tell of."""
    held = HeldEvents()
    try:
        with hold_events(held):
            yield
    finally:
        held.drop()


@contextmanager
def _atomic_everywhere() -> Iterator[None]:
    with ExitStack() as stack:
        for alias in connections:
            stack.enter_context(transaction.atomic(using=alias))
        yield


def _statement_timeout(deadline: float | None) -> AbstractContextManager[None]:
    """Limit statements of open PostgreSQL transactions to the time that is left."""
    return _limited(deadline, "statement_timeout", _takes_statements)


def _idle_timeout(deadline: float | None) -> AbstractContextManager[None]:
    """Limit how long open PostgreSQL transactions wait for the next statement to the time that is left.

    Nobody else can end them while the reader of a stream is busy, or gone without a word. In a transaction of the
    caller, waiting is the caller's own affair.
    """
    return _limited(
        deadline,
        "idle_in_transaction_session_timeout",
        lambda each: _takes_statements(each) and not each.savepoint_ids,
    )


@contextmanager
def _limited(deadline: float | None, setting: str, concerns: Callable[[Any], bool]) -> Iterator[None]:
    """Set a limit of PostgreSQL to the time that is left, in milliseconds, and put the old one back.

    A transaction that a failed statement broke is rolled back, and its limit with it. Past the deadline nothing begins.
    """
    left = None if deadline is None else deadline - monotonic()
    limited: list[Any] = [each for each in connections.all(initialized_only=True) if concerns(each)]
    if left is None or left <= 0 or not limited:
        yield
        return
    milliseconds = max(1, int(left * 1000))
    previous = [(each, _swap_limit(each, setting, f"{milliseconds}ms")) for each in limited]
    try:
        yield
    finally:
        for connection, limit in previous:
            if _takes_statements(connection):
                with suppress(connection.Database.Error):  # the server may have ended it meanwhile
                    _swap_limit(connection, setting, limit)


def _is_broken() -> bool:
    opened = connections.all(initialized_only=True)
    return any(each.in_atomic_block and (each.needs_rollback or _has_failed(each)) for each in opened)


def _has_failed(connection: Any) -> bool:
    """Whether PostgreSQL refuses every further statement of this transaction, which Django may not know yet."""
    if connection.vendor != "postgresql" or connection.connection is None:
        return False
    return bool(connection.connection.info.transaction_status.name == "INERROR")


def _takes_statements(connection: Any) -> bool:
    """Whether this is PostgreSQL in a transaction that is not broken."""
    if connection.vendor != "postgresql" or not connection.in_atomic_block or connection.connection is None:
        return False
    return bool(connection.connection.info.transaction_status.name in {"IDLE", "INTRANS"})


def _swap_limit(connection: Any, setting: str, limit: str) -> str:
    """Set a limit for this transaction and return the one before; through the driver: no module did this."""
    swap = "SELECT current_setting(%s), set_config(%s, %s, true)"
    with connection.connection.cursor() as cursor:
        cursor.execute(swap, [setting, setting, limit])
        return str(cursor.fetchone()[0])


def _may_be_retried(error: BaseException, attempt: int, *, has_snapshot: bool = True) -> bool:
    """Whether running the whole transaction again may help: another got in its way, and this is the outermost."""
    state = sqlstate_of(error)
    is_unseen = has_snapshot and state in _THERE_ALREADY
    may_help = (state in _IN_THE_WAY and attempt < _ATTEMPTS) or (is_unseen and attempt == 1)
    return may_help and not any(connections[alias].in_atomic_block for alias in connections)
