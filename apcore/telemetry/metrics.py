"""Counters and histograms of calls, in Prometheus' form (§10.3, §12.2)."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from apcore.errors import InvalidInputError

CALLS: Final = "apcore_module_calls_total"
DURATION: Final = "apcore_module_duration_seconds"
ERRORS: Final = "apcore_module_errors_total"

OTHER: Final = "other"
"""The label value of a module that is not registered, and of every value beyond the bound of its label."""

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_HELP: Final = {
    CALLS: "Calls of modules by how they ended: success, error, or pending (a person was asked).",
    DURATION: "How long calls took, from their first step to their last, in seconds.",
    ERRORS: "Calls that failed, by the code of the error.",
}
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]*")
_TAKEN_ENDINGS: Final = ("_total", "_count", "_sum", "_bucket", "_created", "_info")
"""What the text format puts behind a name itself, or takes for another kind of metric."""
_TAKEN_LABELS: Final = frozenset({"le", "quantile"})

Labels = Mapping[str, str]
_Metric = tuple["Counter | Histogram", tuple[str, ...]]


class MetricsCollector:
    """The metrics of one App, in a registry of their own (§12.2).

    A label takes ``most_values`` different values; all further ones are counted as ``other``, so that nobody can fill
    the memory by inventing names. Where ``PROMETHEUS_MULTIPROC_DIR`` is set, the processes of a server share what they
    count, and each of them exposes the whole; the library reads the variable when it is first imported.
    """

    def __init__(self, *, most_values: int = 1_000, most_codes: int = 200) -> None:
        self.registry = CollectorRegistry()
        self._bounds = {"module_id": _Bound(most_values), "error_code": _Bound(most_codes)}
        self._most_others = most_codes
        self._metrics: dict[str, _Metric] = {}
        self._series: dict[tuple[str, type[Counter | Histogram], tuple[tuple[str, str], ...]], Any] = {}
        self._adding = threading.Lock()
        self._add(CALLS.removesuffix("_total"), ("module_id", "status"), Counter)
        self._add(DURATION, ("module_id",), Histogram)
        self._add(ERRORS.removesuffix("_total"), ("module_id", "error_code"), Counter)

    def increment(self, name: str, labels: Labels, value: float = 1) -> None:
        """Add to a counter, which is made when its name is first used; with or without ``_total`` it is the same one.

        Raises InvalidInputError for a malformed name or label, for other labels or another kind of metric than the
        first time, and for what is no number from 0.
        """
        if _number(name, value) < 0:
            raise InvalidInputError(f"The counter {name} cannot go down by {-value}")
        self._one(name, labels, Counter).inc(value)

    def observe(self, name: str, labels: Labels, value: float) -> None:
        """Put a value into a histogram, which is made when its name is first used; raises as ``increment()``."""
        self._one(name, labels, Histogram).observe(_number(name, value))

    def value(self, name: str, labels: Labels | None = None) -> float:
        """What a sample of this process is now, by its exposed name (``…_total``, ``…_count``); 0 if there is none."""
        return self.registry.get_sample_value(name, dict(labels or {})) or 0.0

    def exposition(self, *others: Collector) -> bytes:
        """Everything in the text format, version 0.0.4; ``others`` are collectors that are asked at this moment."""
        shown: CollectorRegistry = self.registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            shown = CollectorRegistry()
            MultiProcessCollector(shown)  # type: ignore[no-untyped-call]  # the library has no types for it
        asked = CollectorRegistry()
        for other in others:
            asked.register(other)
        return generate_latest(shown) + generate_latest(asked)

    def _one(self, name: str, labels: Labels, make: type[Counter | Histogram]) -> Any:
        key = (name, make, tuple(labels.items()))
        series = self._series.get(key)
        if series is not None:
            return series
        with self._adding:
            known = name.removesuffix("_total") if make is Counter else name
            metric, names = self._metrics.get(known) or self._add(known, tuple(labels), make)
            if type(metric) is not make:
                raise InvalidInputError(f"{name} is a {type(metric).__name__.lower()}, no {make.__name__.lower()}")
            if {*labels} != {*names}:
                raise InvalidInputError(
                    f"{name} has the labels {', '.join(names) or '(none)'}, not {', '.join(labels)}"
                )
            bounded = {label: self._bounds[label].admit(str(value)) for label, value in labels.items()}
            series = metric.labels(**bounded) if bounded else metric
            if OTHER not in bounded.values():
                self._series[key] = series
        return series

    def _add(self, name: str, labels: tuple[str, ...], make: type[Counter | Histogram]) -> _Metric:
        if not _NAME.fullmatch(name) or name.endswith(_TAKEN_ENDINGS):
            raise InvalidInputError(
                "A metric's name is lower-case letters, digits and underscores, and ends in none of "
                f"{', '.join(_TAKEN_ENDINGS)}, not {name!r}"
            )
        for label in labels:
            if not _NAME.fullmatch(label) or label.startswith("__") or label in _TAKEN_LABELS:
                raise InvalidInputError(
                    f"{label!r} can be no label of {name}: it takes lower-case letters, digits and underscores, begins "
                    f"with no __ and is none of {', '.join(sorted(_TAKEN_LABELS))}"
                )
        for label in labels:
            self._bounds.setdefault(label, _Bound(self._most_others))
        options: dict[str, Any] = {"buckets": _BUCKETS} if make is Histogram else {}
        help_ = _HELP.get(f"{name}_total", _HELP.get(name, name))
        self._metrics[name] = made = (make(name, help_, labels, registry=self.registry, **options), labels)
        return made


def _number(name: str, value: object) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not isfinite(value):
        raise InvalidInputError(f"{name} takes a number, not {value!r}")
    return value


class _Bound:
    """So many different values of a label; the rest is ``other``."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: set[str] = set()

    def admit(self, value: str) -> str:
        if value in self._known:
            return value
        if len(self._known) >= self._most:
            return OTHER
        self._known.add(value)
        return value
