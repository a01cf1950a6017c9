"""What a governed run writes to Django's caches waits for the commit; the run itself reads it already."""

import functools
import logging
import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from django.core.cache import CacheHandler, caches
from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.core.cache.backends.db import BaseDatabaseCache, DatabaseCache

from django_apcore.effects.active import Run, active_run
from django_apcore.effects.outside.behalf import let_pass

logger = logging.getLogger("django_apcore.effects")

_INTERFACE: Final = (
    *("add", "get", "set", "touch", "delete", "clear", "get_many", "set_many", "delete_many"),
    *("get_or_set", "has_key", "incr", "decr", "incr_version", "decr_version"),
)
"""What Django promises of every cache. What a backend offers besides is not held."""

_MISSING: Final = object()
_ALIAS: Final = "apcore_alias"

_reaching: ContextVar[bool] = ContextVar("django_apcore_reaching_cache", default=False)
"""Whether the cache itself is at work for a run, so that its own methods are not held again."""


class HeldCache(BaseCache):
    """A cache as one run sees it: what it has written, over what is there.

    `add()` and `incr()` are how processes agree with each other, on a lock or a number, so a run that is to be
    committed (`commits`) does them at once, and all else with such a key, its release for one. What a run has written
    to before is its own until the commit.
    """

    def __init__(self, real: BaseCache, *, commits: bool) -> None:
        super().__init__({})
        self._real = real
        self._commits = commits
        self._written: dict[str, bytes | None] = {}
        self._agreed: set[str] = set()
        self._cleared = False
        self.was_used = False
        """Whether the run has written anything."""
        self.calls: list[Callable[[], object]] = []
        """What has to be done after the commit, in order."""

    def make_key(self, key: Any, version: int | None = None) -> str:
        """As the cache itself makes it."""
        return str(self._real.make_key(key, version=version))

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        """Read what the run has written, or what is there."""
        name = self.make_key(key, version)
        if name in self._written:
            text = self._written[name]
            return default if text is None else pickle.loads(text)  # noqa: S301 - pickled here
        return default if self._is_own(name) else self._now("get", key, default, version=version)

    def set(
        self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None, **options: Any
    ) -> Any:
        """Write it after the commit. With options that only the backend knows, such as `nx`, it is an agreement."""
        if options and self._agrees(key, version):
            return self._now("set", key, value, timeout, version=version, **options)
        if options.get("nx"):
            return self.add(key, value, timeout, version)
        self._write(key, version, self._text(value, timeout), "set", key, value, timeout, version=version, **options)
        return None

    def add(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Write it if the key is free."""
        if self._agrees(key, version):
            return bool(self._now("add", key, value, timeout, version=version))
        is_free = not self.has_key(key, version)
        if is_free:
            self._write(key, version, self._text(value, timeout), "add", key, value, timeout, version=version)
        return is_free

    def get_or_set(self, key: Any, default: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> Any:
        """Read it, or write it after the commit: what is remembered so is no agreement."""
        found = self.get(key, _MISSING, version)
        if found is not _MISSING:
            return found
        value = default() if callable(default) else default
        self._write(key, version, self._text(value, timeout), "add", key, value, timeout, version=version)
        return self.get(key, default, version)

    def touch(self, key: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Keep it for longer, after the commit."""
        is_there = self.has_key(key, version)
        if is_there:
            text = self._text(self.get(key, version=version), timeout)
            self._write(key, version, text, "touch", key, timeout, version=version)
        return is_there

    def delete(self, key: Any, version: int | None = None) -> bool:
        """Delete it after the commit."""
        was_there = self.has_key(key, version)
        self._write(key, version, None, "delete", key, version=version)
        return was_there

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        """Add to what is there. Raises ValueError if nothing is."""
        if self._agrees(key, version):
            return int(self._now("incr", key, delta, version=version))
        value = self.get(key, _MISSING, version)
        if value is _MISSING:
            raise ValueError(f"Key {key!r} not found")
        text = self._text(value + delta, DEFAULT_TIMEOUT)
        self._write(key, version, text, "incr", key, delta, version=version)
        return int(value + delta)

    def clear(self) -> None:
        """Empty it after the commit."""
        self._written.clear()
        self._cleared = self.was_used = True
        self.calls.append(self._real.clear)

    def _is_own(self, name: str) -> bool:
        """Whether what a key holds is up to this run alone."""
        return name in self._written or (self._cleared and name not in self._agreed)

    def _agrees(self, key: Any, version: int | None) -> bool:
        """Whether this is, or has been, a matter between processes."""
        name = self.make_key(key, version)
        if not self._commits or self._is_own(name):
            return False
        self._agreed.add(name)
        self.was_used = True
        return True

    def _now(self, method: str, *args: Any, **kwargs: Any) -> Any:
        with _reaching_cache(), let_pass("network", "file"):
            return getattr(self._real, method)(*args, **kwargs)

    def _write(
        self, written: Any, in_version: int | None, text: bytes | None, method: str, *args: Any, **kwargs: Any
    ) -> None:
        """Remember what a key holds from now on, and do it after the commit; at once where it was agreed on."""
        name = self.make_key(written, in_version)
        if name in self._agreed:
            self._now(method, *args, **kwargs)
            return
        self._written[name] = text
        self.was_used = True
        self.calls.append(functools.partial(getattr(self._real, method), *args, **kwargs))

    def _text(self, value: Any, timeout: Any) -> bytes | None:
        """What is read back; nothing where the time is over at once."""
        has_ended = timeout not in (None, DEFAULT_TIMEOUT) and timeout <= 0
        return None if has_ended else pickle.dumps(value)


def write_caches(calls: Iterable[Callable[[], object]]) -> None:
    """Do what was held, after the commit. What fails is logged: a cache may be gone, and the others are not."""
    for call in calls:
        try:
            call()
        except Exception as error:  # noqa: BLE001 - whatever the backend raises; the effect is committed
            logger.warning("What was to be written to a cache after the commit was not (%s)", type(error).__name__)


@contextmanager
def _reaching_cache() -> Iterator[None]:
    """Let the methods of caches through while this is open."""
    token = _reaching.set(True)
    try:
        yield
    finally:
        _reaching.reset(token)


def hold_caches() -> None:
    """Have every cache that Django makes hold what a run writes to it. Idempotent."""
    original = CacheHandler.create_connection
    if not hasattr(original, "holds_writes"):

        @functools.wraps(original)
        def create_connection(handler: CacheHandler, alias: str) -> Any:
            cache = original(handler, alias)
            vars(cache)[_ALIAS] = alias
            _gate(type(cache))
            return cache

        create_connection.holds_writes = True  # type: ignore[attr-defined]  # a mark of ours
        CacheHandler.create_connection = create_connection  # type: ignore[method-assign, assignment]  # the hook itself
    for cache in caches.all(initialized_only=True):
        _gate(type(cache))
    _let_expired_rows_be()


def _let_expired_rows_be() -> None:
    """Have reads of a cache in a table not delete the rows that they find expired: only reads get there in a run."""
    original = DatabaseCache._base_delete_many  # type: ignore[attr-defined]  # noqa: SLF001 - nothing public lies there
    if hasattr(original, "holds_writes"):
        return

    @functools.wraps(original)
    def base_delete_many(cache: DatabaseCache, keys: Any) -> bool:
        return active_run() is None and bool(original(cache, keys))

    base_delete_many.holds_writes = True  # type: ignore[attr-defined]  # a mark of ours
    DatabaseCache._base_delete_many = base_delete_many  # type: ignore[attr-defined]  # noqa: SLF001 - the hook itself


def _gate(backend: type[BaseCache]) -> None:
    for name in _INTERFACE:
        if not hasattr(getattr(backend, name), "holds_writes"):
            setattr(backend, name, _gated(getattr(backend, name), name))


def _gated(original: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(original)
    def gated(cache: BaseCache, *args: Any, **kwargs: Any) -> Any:
        run = active_run()
        if run is None or _reaching.get():
            return original(cache, *args, **kwargs)
        return getattr(_held(run, cache), name)(*args, **kwargs)

    gated.holds_writes = True  # type: ignore[attr-defined]  # a mark of ours
    return gated


def _held(run: Run, cache: BaseCache) -> HeldCache:
    alias = vars(cache).get(_ALIAS, id(cache))
    held: HeldCache | None = run.caches.get(alias)
    if held is None:
        # what is agreed on in a table of the database would be seen by nobody before the commit
        held = run.caches[alias] = HeldCache(cache, commits=run.commits and not isinstance(cache, BaseDatabaseCache))
    return held
