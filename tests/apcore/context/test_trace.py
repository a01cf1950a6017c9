import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.context import Context, TraceParent, is_trace_id, new_span_id, new_trace_id, parse_traceparent

GOOD = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.mark.req("R-10.5-01", "R-5.7-02")
def test_new_trace_ids_are_valid_and_different() -> None:
    ids = {new_trace_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(is_trace_id(each) for each in ids)


def test_a_seed_of_the_application_repeats_no_id() -> None:
    made = []
    for _ in range(2):
        random.seed(7)
        made += [new_trace_id(), f"{new_span_id():016x}"]
    assert len(set(made)) == 4


def test_a_forked_process_repeats_no_id() -> None:
    program = """
import os
from apcore.context import new_trace_id
new_trace_id()
if child := os.fork():
    os.waitpid(child, 0)
print(new_trace_id())
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert len(set(done.stdout.split())) == 2


@pytest.mark.req("R-10.5-03", "R-10.5-05", "R-10.5-06", "R-10.5-07", "R-10.5-08")
@pytest.mark.parametrize("bad", ["0" * 32, "f" * 32, GOOD.upper(), GOOD[:-1], GOOD + "0", "", None, 7, GOOD + "\n"])
def test_invalid_trace_ids_are_replaced_and_the_call_goes_on(bad: object, caplog: pytest.LogCaptureFixture) -> None:
    assert not is_trace_id(bad)
    if bad is not None:
        context = Context.create(trace_parent=bad)  # type: ignore[arg-type]  # what is wrong here
        assert is_trace_id(context.trace_id)
        assert "trace_parent" in caplog.text


@pytest.mark.req("R-10.5-04")
def test_a_valid_trace_parent_is_taken_as_it_is() -> None:
    assert Context.create(trace_parent=GOOD).trace_id == GOOD


@pytest.mark.req("R-10.5-09")
def test_traceparent_header() -> None:
    parsed = parse_traceparent(f"00-{GOOD}-00f067aa0ba902b7-01")
    assert parsed == TraceParent(GOOD, "00f067aa0ba902b7", "01")
    assert parsed.to_header() == f"00-{GOOD}-00f067aa0ba902b7-01"


@pytest.mark.parametrize(
    "header",
    [
        None,
        5,
        b"00",
        "",
        "nonsense",
        f"ff-{GOOD}-00f067aa0ba902b7-01",
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        f"00-{GOOD}-{'0' * 16}-01",
        f"00-{GOOD}-00f067aa0ba902b7-01-extra",
        f"00-{GOOD.upper()}-00f067aa0ba902b7-01",
    ],
)
def test_malformed_headers_are_ignored(header: object) -> None:
    assert parse_traceparent(header) is None  # type: ignore[arg-type]  # what is wrong here


def test_a_later_version_may_carry_more() -> None:
    assert parse_traceparent(f"01-{GOOD}-00f067aa0ba902b7-01-more") is not None


@given(st.text())
def test_any_text_is_parsed_or_ignored(text: str) -> None:
    parse_traceparent(text)
