"""What a stream adds up to: the recursive merge of its chunks (§12.2, Streaming Execution Protocol)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from apcore.errors import ModuleExecuteError

MAX_MERGE_DEPTH: Final = 32
"""How many levels of objects are merged; what lies deeper is replaced as a whole (§12.2)."""


def deep_merge(base: Mapping[str, Any], chunk: Mapping[str, Any], max_depth: int = MAX_MERGE_DEPTH) -> dict[str, Any]:
    """``base`` with ``chunk`` laid over it: objects are merged key by key, everything else is replaced (§12.2).

    Arrays are replaced, not joined, and so are values that change their type. From ``max_depth`` objects inside each
    other on, an object is replaced like a scalar. Neither argument is changed, nor does the result share an object or
    an array with them down to that depth.
    """
    merged: dict[str, Any] = _own(base, max_depth)
    _lay_over(merged, chunk, max_depth)
    return merged


def deep_merge_chunks(chunks: Iterable[Mapping[str, Any]], max_depth: int = MAX_MERGE_DEPTH) -> dict[str, Any]:
    """The whole result of a stream: all chunks merged in order, ``{}`` for none (§12.2, A24)."""
    merged: dict[str, Any] = {}
    for chunk in chunks:
        _lay_over(merged, chunk, max_depth)
    return merged


class MergedChunks:
    """The result so far of one stream, which may not outgrow ``max_bytes`` of JSON (0 means any size)."""

    __slots__ = ("_bytes", "_max_bytes", "_max_depth", "value")

    def __init__(self, max_depth: int, max_bytes: int) -> None:
        self._max_depth = max_depth
        self._max_bytes = max_bytes
        self._bytes = 0
        self.value: dict[str, Any] = {}

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Merge one more chunk. Raises ModuleExecuteError when the result has become too large."""
        _lay_over(self.value, chunk, self._max_depth)
        if not self._max_bytes:
            return
        self._bytes += _size(chunk)
        if self._bytes > self._max_bytes:
            # Chunks may replace what earlier ones brought: only now is it worth measuring what is really there.
            self._bytes = _size(self.value)
        if self._bytes > self._max_bytes:
            raise ModuleExecuteError(
                f"The merged chunks of the stream are larger than {self._max_bytes:,} bytes; send less, or raise "
                "executor.max_stream_bytes",
                details={"max_stream_bytes": self._max_bytes},
            )


def _lay_over(base: dict[str, Any], chunk: Mapping[str, Any], depth: int) -> None:
    for key, value in chunk.items():
        present = base.get(key)
        if depth > 1 and isinstance(value, Mapping) and isinstance(present, dict):
            _lay_over(present, value, depth - 1)
        else:
            base[key] = _own(value, depth - 1)


def _own(value: Any, depth: int) -> Any:
    """A copy of the objects and arrays that a later chunk, the module or the consumer could change under us."""
    if depth < 1:
        return value
    if isinstance(value, Mapping):
        return {key: _own(each, depth - 1) for key, each in value.items()}
    if isinstance(value, list):
        return [_own(each, depth - 1) for each in value]
    return value


def _size(value: Any) -> int:
    """The bytes of the JSON form, about; what has none counts as little, what is too deep as its upper levels."""
    try:
        return len(json.dumps(value, default=_nothing, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return len(value)


def _nothing(value: Any) -> None:
    """Stands for a value that JSON cannot hold."""
