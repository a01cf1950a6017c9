"""One trace from the request of an agent to the execution by a worker: real processes, and a real collector."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

pytestmark = pytest.mark.sqlite  # it brings databases of its own

ERASE = "store.customers.erase"
EXECUTE = "apcore.module.execute"
PATIENCE = 90


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("APCORE_", "OTEL_"))}
    return {
        **kept,
        "DJANGO_SETTINGS_MODULE": "project.settings",
        "APCORE_VAR_DIR": str(tmp_path_factory.mktemp("traced")),
        "DEMO_PASSWORD": "a password for this test",
        "APCORE_METRICS_TOKEN": "let-me-in",
        "OTEL_BSP_SCHEDULE_DELAY": "200",
    }


@pytest.fixture(scope="module")
def start(environment: dict[str, str]) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    running: list[subprocess.Popen[str]] = []

    def run(*command: str, **more: str) -> subprocess.Popen[str]:
        with Path(environment["APCORE_VAR_DIR"], "log.txt").open("a") as log:
            process = subprocess.Popen(
                [sys.executable, *command], env=environment | more, stdout=subprocess.PIPE, stderr=log, text=True
            )
        running.append(process)
        return process

    yield run
    for process in reversed(running):
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


@pytest.fixture(scope="module")
def collector(start: Any, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("collector") / "spans.jsonl"
    file.touch()
    process = start("-m", "tests.project.tracing.receiver", str(file))
    environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{process.stdout.readline().strip()}"
    return file


@pytest.fixture(scope="module")
def tokens(environment: dict[str, str], collector: Path) -> dict[str, str]:
    """The store is set up; the tokens of those who act in it."""

    def manage(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    manage("migrate", "--verbosity=0")
    accounts = json.loads(manage("store_setup", "--json"))["accounts"]
    agent = next(each["token"] for each in accounts if each["username"] == "agent")
    approver = manage("drf_create_token", "approver").split()[2]
    return {"agent": agent, "approver": approver}


@pytest.fixture(scope="module")
def site(start: Any, tokens: dict[str, str]) -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start("-m", "waitress", f"--listen=127.0.0.1:{port}", "project.wsgi:application", OTEL_SERVICE_NAME="web")
    url = f"http://127.0.0.1:{port}/api/apcore/"
    for _ in range(PATIENCE * 10):
        try:
            requests.get(url, timeout=5)
            break
        except requests.ConnectionError:
            time.sleep(0.1)
    return url


@pytest.fixture(scope="module")
def executed(site: str, start: Any, tokens: dict[str, str], collector: Path) -> dict[str, Any]:
    """An agent asked, an approver signed, and a worker executed. The spans that came of it."""
    agent = {"Authorization": f"Token {tokens['agent']}"}
    approver = {"Authorization": f"Token {tokens['approver']}"}
    asked = requests.post(
        f"{site}modules/{ERASE}/call/?token=planted-in-the-query",
        json={"inputs": {"customer_id": 5}},
        headers=agent,
        timeout=30,
    )
    assert asked.status_code == 202, asked.text
    request = f"{site}approvals/{asked.json()['approval_id']}/"
    digest = asked.json()["preview"]["digest"]
    answer = requests.post(
        f"{request}approve/", json={"seen_digest": digest, "confirmed": True}, headers=approver, timeout=30
    )
    assert answer.status_code == 200, answer.text
    start("-m", "celery", "-A", "project", "worker", "--concurrency=1", "--loglevel=ERROR", OTEL_SERVICE_NAME="worker")
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        spans = [json.loads(line) for line in collector.read_text().splitlines()]
        found = [span for span in spans if span["service"] == "worker" and span["name"] == EXECUTE]
        runs = [span for span in spans if span["name"] == "run/apcore.execute_approved"]
        if found and runs:
            return {
                "spans": spans,
                "asked": asked,
                "status": requests.get(request, headers=approver, timeout=30).json(),
            }
        time.sleep(0.2)
    raise AssertionError(
        f"No execution within {PATIENCE} seconds; there are {sorted({each['name'] for each in spans})}"
    )


def one(spans: list[dict[str, Any]], name: str, **fields: str) -> dict[str, Any]:
    [found] = [span for span in spans if span["name"] == name and fields.items() <= span.items()]
    return found


@pytest.mark.req("R-10.1-02", "R-10.1-03")
def test_the_execution_is_in_the_trace_of_the_request_and_linked_to_the_call_that_asked(executed: Any) -> None:
    spans = executed["spans"]
    asking, execution = one(spans, EXECUTE, service="web"), one(spans, EXECUTE, service="worker")
    http = next(span for span in spans if span["span_id"] == asking["parent_id"])

    assert executed["status"]["status"] == "consumed"
    assert http["service"] == "web"
    assert asking["trace_id"] == execution["trace_id"] == http["trace_id"]
    assert executed["asked"].headers["traceparent"].split("-")[1] == execution["trace_id"]
    assert execution["parent_id"] == ""
    assert [asking["trace_id"], asking["span_id"]] in execution["links"]


def test_the_execution_points_to_the_message_that_the_approval_sent(executed: Any) -> None:
    spans = executed["spans"]
    execution = one(spans, EXECUTE, service="worker")
    runs = [span for span in spans if span["name"] == "run/apcore.execute_approved"]
    by_message = [run for run in runs if [run["trace_id"], run["span_id"]] in execution["links"]]
    assert len(by_message) == 1
    assert by_message[0]["trace_id"] != execution["trace_id"]


def test_steps_of_the_execution_hang_on_it(executed: Any) -> None:
    spans = executed["spans"]
    execution = one(spans, EXECUTE, service="worker")
    steps = {span["name"] for span in spans if span["parent_id"] == execution["span_id"]}
    assert {"apcore.acl.check", "apcore.schema.validate"} <= steps


@pytest.mark.req("R-10.6-01")
def test_no_secret_reached_the_collector(executed: Any, tokens: dict[str, str], collector: Path) -> None:
    text = collector.read_text()
    assert len(text) > 1000
    for secret in (*tokens.values(), "planted-in-the-query", "a password for this test"):
        assert secret not in text


def test_the_server_shows_what_it_counted(executed: Any, site: str) -> None:
    page = requests.get(f"{site}metrics/", headers={"Authorization": "Bearer let-me-in"}, timeout=30)
    assert f'apcore_module_calls_total{{module_id="{ERASE}",status="pending"}} 1.0' in page.text
    assert requests.get(f"{site}metrics/", timeout=30).status_code == 401
    assert "metrics" not in {span["name"] for span in executed["spans"]}
