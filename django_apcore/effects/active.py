"""The governed run of the current context, if there is one. Every hook of this room asks here before it acts."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class HeldMessage:
    """A mail or a task message that waits for the commit. `content` is what an approver sees; `payload` is plain data
    from which the message can be made again."""

    kind: Literal["mail", "task"]
    target: str
    summary: str
    content: dict[str, Any]
    payload: dict[str, Any]


@dataclass(slots=True)
class Run:
    """What the hooks leave behind for the record of one run."""

    commits: bool = False
    """Whether it is to be committed; a preview is not."""
    open: bool = True
    held: list[HeldMessage] = field(default_factory=list)
    generated: defaultdict[tuple[type, str], set[Hashable]] = field(default_factory=lambda: defaultdict(set))
    """Values that came from random defaults, by model and attribute."""
    connections: frozenset[int] = frozenset()
    """The `id()` of each connection that the thread of the run has: those are followed, or watched."""
    refused: list[str] = field(default_factory=list)
    """What was refused to the run elsewhere than on those connections, in words."""
    caches: dict[Hashable, Any] = field(default_factory=dict)
    """What was written to caches and waits for the commit, by the cache: `HeldCache`s."""
    files: list[Any] = field(default_factory=list)
    """What was saved to storages, and what is deleted after the commit: `HeldFile`s."""
    names: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How many other names were asked for in place of a name that is taken in a storage, by its root and extension."""
    threads: list[tuple[Any, str]] = field(default_factory=list)
    """Threads, futures of pools and tasks of loops that the project's code has started, each with a name for people."""
    books: list[Callable[[], object]] = field(default_factory=list)
    """What has to be written beside the effect, and is no part of it."""


current_run: ContextVar[Run | None] = ContextVar("django_apcore_run", default=None)


def active_run() -> Run | None:
    """The run of this context. A background task that outlives its run is in no run any more."""
    run = current_run.get()
    return run if run is not None and run.open else None


def keep_books(write: Callable[[], object]) -> None:
    """Write what goes with a change and is none itself: its audit entry, the revision that others look at.

    Inside `governed()` it is written when the effect has been recorded, and only if that is committed; elsewhere now.
    """
    run = active_run()
    if run is None:
        write()
    else:
        run.books.append(write)


def is_governed() -> bool:
    """Whether this code runs inside `governed()`."""
    return active_run() is not None
