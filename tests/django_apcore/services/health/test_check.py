"""Health over real things that are really stopped."""

import socket
import sqlite3
import threading
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from celery.signals import worker_ready, worker_shutdown
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from django_apcore import services
from django_apcore.models import ApprovalRequest, AsyncTask, AuditEntry, Heartbeat, OutboxMessage
from django_apcore.runtime import Runtime
from django_apcore.services import health
from django_apcore.services.health import backlogs, databases, messaging
from django_apcore.services.health.finding import Finding, within
from project.celery import app as celery
from tests.django_apcore.services.conftest import _broker
from tests.django_apcore.stage import ask

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "other"])


def found(name: str) -> Finding:
    return next(each for each in services.check_health().findings if each.name == name)


class TestDatabases:
    def test_each_one_answers_and_is_migrated(self) -> None:
        names = ["database", "database:other"]
        assert [(each.name, each.status) for each in databases.databases()] == [(name, "ok") for name in names]
        assert [each.status for each in databases.migrations()] == ["ok", "ok"]
        assert services.is_alive()

    def test_a_migration_is_missing(self) -> None:
        recorder = MigrationRecorder(connections["default"])
        [(_app, latest)] = MigrationLoader(connections["default"]).graph.leaf_nodes("django_apcore")
        recorder.record_unapplied("django_apcore", latest)
        try:
            finding = next(iter(databases.migrations()))
        finally:
            recorder.record_applied("django_apcore", latest)
        assert finding.status == "error"
        assert "manage.py migrate" in finding.sentence

    def test_a_server_that_is_away(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing listens at the port; what hangs is given up."""
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen(1)
            settings = {**connections["other"].settings_dict}
            settings |= {"ENGINE": "django.db.backends.postgresql", "HOST": "127.0.0.1", "NAME": "none"}
            settings["PORT"] = silent.getsockname()[1]
            monkeypatch.setitem(connections.databases, "other", settings)
            monkeypatch.setattr(databases, "_SECONDS", 0.5)
            statuses = {each.name: each for each in databases.databases()}
        assert (statuses["database"].status, statuses["database:other"].status) == ("ok", "error")
        assert "reachable" in statuses["database:other"].sentence

    def test_a_file_that_is_locked(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        file = tmp_path / "locked.sqlite3"
        settings = {**connections["other"].settings_dict, "ENGINE": "django.db.backends.sqlite3", "NAME": str(file)}
        settings["OPTIONS"] = {"transaction_mode": "IMMEDIATE", "timeout": 0.2}
        settings["HOST"] = settings["PORT"] = ""
        monkeypatch.setitem(connections.databases, "other", settings)
        other = sqlite3.connect(file, isolation_level=None)
        assert all(each.status == "ok" for each in databases.databases())
        other.execute("BEGIN EXCLUSIVE")
        finding = {each.name: each for each in databases.databases()}["database:other"]
        other.close()
        assert (finding.status, "locked" in finding.sentence) == ("error", True)


class TestBroker:
    def test_a_port_that_nobody_listens_at(self) -> None:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            port = closed.getsockname()[1]
        for scheme in ("redis", "amqp"):
            with _broker(f"{scheme}://127.0.0.1:{port}//"):
                assert messaging.broker().status == "error"

    @pytest.mark.broker
    @pytest.mark.parametrize("name", ["redis", "rabbitmq"])
    def test_one_that_answers(self, name: str, request: pytest.FixtureRequest) -> None:
        with _broker(request.getfixturevalue(f"{name}_url")):
            finding = messaging.broker()
        assert finding.status == "ok", finding

    def test_a_folder(self, tmp_path: Path) -> None:
        with _broker("filesystem://"):
            options = {"data_folder_in": str(tmp_path), "data_folder_out": str(tmp_path)}
            celery.conf.broker_transport_options = options
            assert messaging.broker().status == "ok"
            celery.conf.broker_transport_options = {**options, "data_folder_out": str(tmp_path / "missing")}
            assert messaging.broker().status == "error"

    def test_one_in_memory_reaches_nobody(self) -> None:
        with _broker("memory://"):
            assert messaging.broker().status == "warn"


@dataclass(eq=False)
class Worker:
    """What the signals of Celery tell of a worker."""

    hostname: str


@dataclass(eq=False)
class Consumer:
    """Who says that a worker is ready."""

    controller: Worker


class TestWorkers:
    def test_none_was_ever_there(self) -> None:
        finding = messaging.workers()
        assert (finding.status, "none was ever" in finding.sentence) == ("error", True)

    def test_one_that_beats_is_alive_until_it_falls_silent(self) -> None:
        health.beat("worker:celery@here")
        assert messaging.workers().figures["alive"] == ["celery@here"]
        Heartbeat.objects.update(at=timezone.now() - messaging.ALIVE - timedelta(seconds=1))
        assert messaging.workers().status == "error"

    def test_a_pulse_goes_on_and_leaves_nothing_behind(self) -> None:
        pulse = health.Pulse("celery@here", seconds=0.05)
        pulse.start()
        first = wait_for_beat()
        assert wait_for_beat(later_than=first) > first
        pulse.stop()
        assert not Heartbeat.objects.exists()
        assert not pulses()

    def test_each_worker_of_a_process_has_a_pulse_of_its_own(self) -> None:
        here, there = Worker("celery@here"), Worker("celery@there")
        for worker in (here, there):
            worker_ready.send(sender=Consumer(worker))
        try:
            assert len(pulses()) == 2
            worker_shutdown.send(sender=here)
            assert len(pulses()) == 1
            worker_shutdown.send(sender=Worker("celery@that never was ready"))
            assert len(pulses()) == 1
        finally:
            worker_shutdown.send(sender=there)
        assert not pulses()
        assert not Heartbeat.objects.exists()

    def test_a_pulse_goes_on_after_any_trouble(self, monkeypatch: pytest.MonkeyPatch) -> None:
        beats: list[str] = []

        def beat(name: str, details: object) -> None:
            beats.append(name)
            if len(beats) == 1:
                raise RuntimeError("what no database ever raised")

        monkeypatch.setattr("django_apcore.services.health.pulse.beat", beat)
        pulse = health.Pulse("celery@here", seconds=0.001)
        pulse.start()
        until = time.monotonic() + 20
        while len(beats) < 2 and time.monotonic() < until:
            time.sleep(0.001)
        pulse.stop()
        assert len(beats) >= 2


class TestBacklogs:
    def late(self, minutes: int) -> Any:
        return timezone.now() - timedelta(minutes=minutes)

    @pytest.mark.parametrize(("minutes", "status"), [(0, "ok"), (3, "warn"), (20, "error")])
    def test_how_long_a_task_has_waited(self, minutes: int, status: str) -> None:
        AsyncTask.objects.create(module_id="a.b", inputs_encrypted="", trace_id="a" * 32, created_at=self.late(minutes))
        finding = backlogs.queue()
        assert (finding.status, finding.figures["waiting"]) == (status, 1)

    def test_an_approved_call_waits_too(self, runtime: Runtime, requester: User, approver: User) -> None:
        request = ask(runtime, requester, "test.groups.plan", name="new")
        services.approve(request.pk, actor=approver, seen_digest=request.effect_digest)
        ApprovalRequest.objects.update(decided_at=self.late(20))
        assert backlogs.queue().status == "error"

    def test_requests_past_their_limit(self, runtime: Runtime, requester: User) -> None:
        ask(runtime, requester, "test.groups.plan", name="new")
        assert (backlogs.approvals().status, backlogs.approvals().figures["pending"]) == ("ok", 1)
        ApprovalRequest.objects.update(expires_at=self.late(5))
        assert backlogs.approvals().figures["overdue"] == 1
        assert "beat" in backlogs.approvals().sentence

    def test_messages_that_do_not_leave_or_were_given_up(self) -> None:
        assert backlogs.outbox().status == "ok"
        message = OutboxMessage.objects.create(kind="mail", payload_encrypted="", idempotency_key="a")
        assert backlogs.outbox().status == "ok"
        OutboxMessage.objects.update(created_at=self.late(20))
        assert backlogs.outbox().status == "error"
        OutboxMessage.objects.update(abandoned_at=timezone.now())
        assert (backlogs.outbox().status, backlogs.outbox().figures["given_up"]) == ("warn", 1)
        message.delete()

    def test_the_trail_was_verified_or_not(self) -> None:
        assert backlogs.audit().status == "warn"
        services.append("test", subject="a")
        services.record_verification(services.verify())
        assert (backlogs.audit().status, backlogs.audit().figures["entries"]) == ("ok", 1)
        Heartbeat.objects.update(at=timezone.now() - timedelta(days=8))
        assert backlogs.audit().status == "warn"
        Heartbeat.objects.update(at=timezone.now(), details={"ok": False})
        assert backlogs.audit().status == "error"
        assert AuditEntry.objects.count() == 1


class TestFaces:
    URL = "/api/apcore/health/"

    def test_an_outsider_learns_one_word(self, client: Client) -> None:
        response = client.get(self.URL)
        assert (response.status_code, response.json()) == (200, {"status": "ok"})

    def test_so_does_a_user_without_the_permission(self, client: Client, requester: User) -> None:
        client.force_login(requester)
        assert client.get(self.URL).json() == {"status": "ok"}

    def test_details_are_for_who_may_view_them(self, client: Client, requester: User) -> None:
        requester.user_permissions.add(Permission.objects.get(codename="view_heartbeat"))
        client.force_login(requester)
        response = client.get(self.URL)
        checks = {each["name"]: each["status"] for each in response.json()["checks"]}
        assert (response.status_code, response.json()["status"]) == (503, "error")
        assert (checks["database"], checks["workers"], checks["broker"]) == ("ok", "error", "warn")

    def test_without_a_database_it_is_not_alive(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        broken = iter([Finding("database", "error", "gone")])
        monkeypatch.setattr("django_apcore.services.health.check.databases", lambda: broken)
        response = client.get(self.URL)
        assert (response.status_code, response.json()) == (503, {"status": "error"})

    def test_the_command_says_it_with_its_exit_status(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as ended:
            call_command("apcore", "health")
        assert ended.value.code == 1
        assert "celery" in capsys.readouterr().out

        health.beat("worker:celery@here")
        call_command("apcore", "health", "--json")
        assert '"status": "warn"' in capsys.readouterr().out

    def test_verifying_the_trail_is_remembered(self) -> None:
        call_command("apcore", "audit", "verify")
        assert backlogs.audit().status == "ok"


def test_what_hangs_is_given_up_and_what_raises_says_its_kind_alone() -> None:
    release = threading.Event()

    def hang() -> Finding:
        release.wait(10)
        return Finding("x", "ok", "")

    assert within(0.05, "x", hang, "It hangs").status == "error"
    release.set()

    def fail() -> Finding:
        raise ValueError("secret")

    finding = within(5, "x", fail, "It is away")
    assert (finding.status, finding.sentence) == ("error", "It is away (ValueError)")


def pulses() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "apcore-pulse"]


def wait_for_beat(later_than: Any = None) -> Any:
    end = timezone.now() + timedelta(seconds=20)
    while timezone.now() < end:
        row = Heartbeat.objects.first()
        if row is not None and (later_than is None or row.at > later_than):
            return row.at
    raise AssertionError("no sign of life")
