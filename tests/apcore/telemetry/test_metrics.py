from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.parser import text_string_to_metric_families

from apcore.errors import InvalidInputError
from apcore.telemetry.metrics import CALLS, DURATION, ERRORS, OTHER, MetricsCollector


@pytest.mark.req("R-12.2-36")
def test_what_is_counted_and_observed_can_be_read():
    collector = MetricsCollector()
    labels = {"module_id": "m.one", "status": "success"}
    collector.increment(CALLS, labels)
    collector.increment(CALLS, labels)
    collector.increment(CALLS, labels, 3)
    collector.observe(DURATION, {"module_id": "m.one"}, 0.2)

    assert collector.value(CALLS, labels) == 5
    assert collector.value(f"{DURATION}_sum", {"module_id": "m.one"}) == 0.2
    assert collector.value(f"{DURATION}_count", {"module_id": "m.one"}) == 1
    assert collector.value(CALLS, {"module_id": "m.two", "status": "success"}) == 0


def test_a_metric_of_ones_own_is_made_when_it_is_used():
    collector = MetricsCollector()
    collector.increment("shop_orders_total", {})
    collector.observe("shop_basket", {"country": "PT"}, 12)
    assert collector.value("shop_orders_total") == 1
    assert collector.value("shop_basket_count", {"country": "PT"}) == 1


@pytest.mark.parametrize(
    ("name", "labels", "value"),
    [
        ("Bad Name", {}, 1),
        (CALLS, {"module_id": "m"}, 1),
        (ERRORS, {"a": "b"}, 1),
        ("some_total", {}, -1),
        ("some_total", {}, float("nan")),
        ("some_total", {}, "1"),
        ("some_total", {"bad-label": "x"}, 1),
        ("some_total", {"__name__": "x"}, 1),
        ("some_total", {"le": "x"}, 1),
        (f"{DURATION}_count", {}, 1),
        ("some_created", {}, 1),
        (DURATION, {"module_id": "m"}, 1),
    ],
)
def test_what_prometheus_could_not_show_is_refused_and_leaves_no_trace(name, labels, value):
    collector = MetricsCollector()
    shown = collector.exposition()
    with pytest.raises(InvalidInputError):
        collector.increment(name, labels, value)
    assert collector.exposition() == shown


def test_a_counter_is_no_histogram_and_has_one_name():
    collector = MetricsCollector()
    collector.increment("shop_orders", {})
    collector.increment("shop_orders_total", {})
    assert collector.value("shop_orders_total") == 2
    with pytest.raises(InvalidInputError, match="shop_orders is a counter, no histogram"):
        collector.observe("shop_orders", {}, 1)
    with pytest.raises(InvalidInputError, match="takes a number"):
        collector.observe("shop_basket", {}, float("inf"))


@given(st.lists(st.text(max_size=8), max_size=30))
def test_a_label_never_takes_more_values_than_its_bound(values):
    collector = MetricsCollector(most_values=3)
    for value in values:
        collector.increment(CALLS, {"module_id": value, "status": "success"})
    families = {each.name: each for each in text_string_to_metric_families(collector.exposition().decode())}
    seen = {each.labels["module_id"] for each in families["apcore_module_calls"].samples if each.name == CALLS}
    assert len(seen - {OTHER}) <= 3
    assert sum(each.value for each in families["apcore_module_calls"].samples if each.name == CALLS) == len(values)


def test_each_collector_counts_for_itself():
    first, second = MetricsCollector(), MetricsCollector()
    first.increment(ERRORS, {"module_id": "m", "error_code": "X"})
    assert second.value(ERRORS, {"module_id": "m", "error_code": "X"}) == 0


def test_no_count_is_lost_between_threads():
    collector = MetricsCollector()

    def count() -> None:
        for number in range(500):
            collector.increment(CALLS, {"module_id": f"m.{number % 7}", "status": "success"})

    threads = [threading.Thread(target=count) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    total = sum(collector.value(CALLS, {"module_id": f"m.{number}", "status": "success"}) for number in range(7))
    assert total == 4_000


def test_collectors_that_are_asked_when_somebody_looks_are_shown_as_well():
    class Queue:
        def collect(self):
            yield GaugeMetricFamily("apcore_waiting", "How many wait.", value=7)

    text = MetricsCollector().exposition(Queue()).decode()
    assert "apcore_waiting 7.0" in text
    assert text.count("# HELP apcore_module_calls_total") == 1


COUNTING = """
import sys
from apcore.telemetry.metrics import CALLS, DURATION, MetricsCollector
collector = MetricsCollector()
for _ in range(int(sys.argv[1])):
    collector.increment(CALLS, {"module_id": "m.one", "status": "success"})
    collector.observe(DURATION, {"module_id": "m.one"}, 0.5)
sys.stdout.buffer.write(collector.exposition())
"""


def test_processes_of_one_server_expose_the_sum(tmp_path: Path):
    def run(count: int) -> str:
        return subprocess.run(
            [sys.executable, "-c", COUNTING, str(count)],
            env={"PROMETHEUS_MULTIPROC_DIR": str(tmp_path), "PATH": ""},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            check=True,
            text=True,
        ).stdout

    assert f'{CALLS}{{module_id="m.one",status="success"}} 2.0' in run(2)
    second = run(3)
    assert f'{CALLS}{{module_id="m.one",status="success"}} 5.0' in second
    assert f'{DURATION}_count{{module_id="m.one"}} 5.0' in second
