"""Canaries: secrets are planted wherever one can enter, and must turn up at no face of the project.

Two places may have them. Columns named ``…_encrypted`` hold the calls that are to be resumed, encrypted. And whoever
made a call gets its output. Mail that a module sends is the module's own: here, what is looked at is what the project
shows of it.
"""

import io
import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Annotated, Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.core.mail import send_mail
from django.db import connections
from django.test import Client
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import Field
from rest_framework.authtoken.models import Token

from apcore.context import Context
from apcore.errors import ModuleError
from apcore.modules import ModuleAnnotations, module
from apcore.registry import Registry
from apcore.telemetry.export import exporting_provider
from apcore.telemetry.logs import JsonFormatter, TextFormatter
from apcore.telemetry.tracing import TracingProvider
from django_apcore import runtime, services, tasks
from django_apcore.models import ApprovalRequest, AsyncTask, WebhookSubscriber
from django_apcore.secrets import decrypt
from django_apcore.stores import DatabaseFlusher
from django_apcore.testing import allow_all

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "other"])

Secret = Annotated[Any, Field(json_schema_extra={"x-sensitive": True})]

PIN = "canary-pin-4711"
PASSWORD = "canary-password-4712"
IN_URL = "canary-url-4713"
IN_QUERY = "canary-query-4714"
BEARER = "canary-bearer-4715"
CONFIGURED = "canary-iban-4716"
IN_OUTPUT = "canary-output-4717"
IN_EXCEPTION = "canary-exception-4718"
IN_CONTEXT = "canary-context-4719"
COOKIE = "canary-cookie-4720"
HTTP_QUERY = "canary-http-query-4721"
WEBHOOK_SECRET = "canary-webhook-secret-4722"
CANARIES = {name: value for name, value in globals().items() if str(value).startswith("canary-")}

INPUTS = {
    "pin": PIN,
    "password": PASSWORD,
    "link": f"https://bot:{IN_URL}@example.org/pay?api_key={IN_QUERY}&amount=3",
    "note": f"call it with Authorization: Bearer {BEARER}",
    "more": {"iban": CONFIGURED, "headers": [{"name": "X-Api-Key", "value": PASSWORD}]},
}
OUTPUT = {"type": "object", "properties": {"code": {"type": "string", "x-sensitive": True}}}
GATED = ModuleAnnotations(requires_approval=True)


def leak(context: Context, inputs: dict[str, Any], how: str) -> dict[str, Any]:
    """Put every secret wherever a module can."""
    logger = logging.getLogger("shop.vault")
    logger.warning("pin %s, %s", inputs["pin"], inputs, extra={"inputs": inputs, "echo": inputs["pin"]})
    context.data["api_key"] = IN_CONTEXT
    context.report_progress(1, 2, f"half of {inputs['pin']}")
    Group.objects.get_or_create(name="vault")
    send_mail(f"Vault {inputs['pin']}", f"It is {inputs['password']}.", None, ["owner@example.com"])
    if how == "foreign":
        raise ValueError(f"{IN_EXCEPTION} {inputs}")
    if how == "own":
        raise ModuleError(f"{inputs['pin']} does not turn", details={"tried": [inputs["pin"]], "token": IN_OUTPUT})
    return {"code": IN_OUTPUT, "echo": inputs["pin"], "link": inputs["link"], "api_key": IN_OUTPUT, "iban": CONFIGURED}


def make(module_id: str, annotations: ModuleAnnotations) -> Any:
    @module(id=module_id, annotations=annotations, effect="transactional", output_schema=OUTPUT)
    def vault(
        context: Context, pin: Secret, password: str, link: str, note: str, more: dict[str, Any], how: str = "well"
    ) -> dict[str, Any]:
        """Open the vault."""
        inputs = {"pin": pin, "password": password, "link": link, "note": note, "more": more}
        return leak(context, inputs, how)

    return vault


class Receiver(BaseHTTPRequestHandler):
    heard: list[str] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.heard.append(f"{self.headers}\n{body}")
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Nothing is said about it."""


@pytest.fixture
def receiver() -> Iterator[str]:
    Receiver.heard.clear()
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/hook"
    server.shutdown()
    thread.join()
    server.server_close()


class Faces(dict[str, str]):
    """What was to be seen, by face."""

    def add(self, face: str, *seen: Any) -> None:
        self[face] = (
            self.get(face, "") + "\n".join(each if isinstance(each, str) else repr(each) for each in seen) + "\n"
        )


@pytest.fixture
def logs() -> Iterator[list[io.StringIO]]:
    streams, handlers, root = [], [], logging.getLogger()
    for formatter in (JsonFormatter(sensitive_keys={"iban"}), TextFormatter(sensitive_keys={"iban"})):
        streams.append(io.StringIO())
        handlers.append(logging.StreamHandler(streams[-1]))
        handlers[-1].setFormatter(formatter)
        root.addHandler(handlers[-1])
    before = root.level
    root.setLevel(logging.DEBUG)
    yield streams
    root.setLevel(before)
    for handler in handlers:
        root.removeHandler(handler)


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def app(settings: Any, exporter: InMemorySpanExporter) -> Iterator[runtime.Runtime]:
    settings.APCORE = {
        **settings.APCORE,
        "SENSITIVE_KEYS": ["iban"],
        "WEBHOOK_ALLOW_PRIVATE": True,
        "METRICS_TOKEN": "let-me-in",
        "SYS_MODULES": {"enabled": True},
        "OBSERVABILITY": {"tracing": {"enabled": True}, "metrics": {"enabled": True}, "logging": {"level": "debug"}},
    }
    registry = Registry()
    registry.register("vault.open", make("vault.open", ModuleAnnotations()))
    registry.register("vault.gated", make("vault.gated", GATED))
    built = runtime.build(registry=registry, acl=allow_all(), flusher=DatabaseFlusher(0))
    tracing: TracingProvider = built.app.tracing
    tracing._given = exporting_provider(exporter, batch=False)
    previous = runtime.replace(built)
    yield built
    runtime.replace(previous)


@pytest.fixture
def faces(app: Any, exporter: Any, logs: Any, receiver: str, mailoutbox: Any, settings: Any) -> Faces:
    """Every way through the project, and what is to be seen of it afterwards."""
    seen, told = Faces(), []
    app.app.events.subscribe(lambda event: told.append(json.dumps(event.to_dict(), default=str)), types=["*"])
    boss = User.objects.create_superuser("boss", password="pw")
    agent = User.objects.create_user("agent")
    services.save_webhook(WebhookSubscriber(name="hook", url=receiver), secret=WEBHOOK_SECRET, actor=boss)
    api, admin = Client(raise_request_exception=False), Client()
    admin.force_login(boss)
    header = {"Authorization": f"Token {Token.objects.create(user=agent).key}"}
    api.cookies["sessionid"] = COOKIE

    def post(path: str, inputs: Any, **more: str) -> Any:
        url = f"/api/apcore/{path}?token={HTTP_QUERY}"
        return api.post(url, {"inputs": inputs}, content_type="application/json", headers={**header, **more})

    # calls that fail in each way, and checks
    for how in ("own", "foreign"):
        seen.add("API errors", post("modules/vault.open/call/", {**INPUTS, "how": how}).content.decode())
    for wrong in ({**INPUTS, "pin": {"deep": PIN}, "how": 5}, {"pin": PIN}, {**INPUTS, "unknown": 1}):
        seen.add("API errors", post("modules/vault.open/call/", wrong).content.decode())
    seen.add("API errors", post("modules/vault.nowhere/call/", INPUTS).content.decode())
    seen.add("API checks", post("modules/vault.open/validate/", INPUTS).content.decode())
    assert post("modules/vault.open/call/", INPUTS, **{"X-Request-ID": "r-1"}).status_code == 200
    post("modules/vault.open/stream/", INPUTS)

    # an approval, from the question to the execution by a worker; and one that fails
    for how in ("well", "own", "foreign"):
        asked = post("modules/vault.gated/call/", {**INPUTS, "how": how})
        seen.add("API pending", asked.content.decode())
    for request in ApprovalRequest.objects.all():
        seen.add(
            "admin pages", admin.get(f"/admin/django_apcore/approvalrequest/{request.pk}/change/").content.decode()
        )
        services.approve(request.pk, actor=boss, seen_digest=request.effect_digest, confirmed=True)
        seen.add("task results", tasks.execute_approved(str(request.pk)))

    # tasks
    for how in ("well", "own", "foreign"):
        seen.add("API tasks", post("modules/vault.open/submit/", {**INPUTS, "how": how}).content.decode())
    for task in AsyncTask.objects.all():
        seen.add("task results", tasks._run_task(str(task.pk), "celery-1", "worker-1"))
        seen.add("admin pages", admin.get(f"/admin/django_apcore/asynctask/{task.pk}/change/").content.decode())

    services.deliver_outbox()
    services.deliver_webhooks()
    app.app.usage.flush() if hasattr(app.app.usage, "flush") else None
    app.app.error_history.flush() if hasattr(app.app.error_history, "flush") else None
    look_around(seen, admin, api, header)
    seen.add("webhook bodies", *Receiver.heard)
    seen.add("events", *told)
    seen.add("metrics", api.get("/api/apcore/metrics/", headers={"Authorization": "Bearer let-me-in"}).content.decode())
    seen.add("spans", *(span.to_json() for span in exporter.get_finished_spans()))
    seen.add("logs as JSON", logs[0].getvalue())
    seen.add("logs as text", logs[1].getvalue())
    seen.add("database", *dump())
    assert len(mailoutbox) >= 2
    return seen


def look_around(seen: Faces, admin: Client, api: Client, header: dict[str, str]) -> None:
    """Every list and every object of the admin, and what the approver's side of the API shows."""
    for model in apps.get_app_config("django_apcore").get_models():
        base = f"/admin/django_apcore/{model._meta.model_name}/"
        page = admin.get(base)
        if page.status_code != 200:
            continue
        seen.add("admin pages", page.content.decode())
        for row in model._default_manager.all()[:20]:
            seen.add("admin pages", admin.get(f"{base}{row.pk}/change/", follow=True).content.decode())
    boss = {"Authorization": f"Token {Token.objects.create(user=User.objects.get(username='boss')).key}"}
    for path in ("approvals/", "tasks/", "usage/", "modules/", "health/"):
        seen.add("API lists", api.get(f"/api/apcore/{path}", headers=boss).content.decode())
    for request in ApprovalRequest.objects.all():
        for part in ("", "changes/"):
            shown = api.get(f"/api/apcore/approvals/{request.pk}/{part}", headers=boss)
            seen.add("API lists", shown.content.decode())


def dump() -> Iterator[str]:
    """Every row of every table as text; columns that are encrypted hold no clear text, and are in it, too."""
    with connections["default"].cursor() as cursor:
        for table in connections["default"].introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            for row in cursor.fetchall():
                yield f"{table} {row!r}"


@pytest.mark.req("R-10.6-01", "R-10.2-03", "R-10.6-07", "PV-27", "R-4.14-05")
def test_no_canary_is_seen_anywhere(faces: Faces) -> None:
    found = sorted(
        f"{name} in {face}: …{text[max(0, text.index(value) - 200) : text.index(value) + 40]!r}"
        for face, text in faces.items()
        for name, value in CANARIES.items()
        if value in text
    )
    assert found == []


def test_the_canaries_were_really_there(faces: Faces) -> None:
    """Each face has something to say, and what is stored to resume a call holds the secrets, encrypted."""
    assert set(faces) == {
        "API errors",
        "API checks",
        "API pending",
        "API tasks",
        "API lists",
        "admin pages",
        "task results",
        "webhook bodies",
        "events",
        "metrics",
        "spans",
        "logs as JSON",
        "logs as text",
        "database",
    }
    assert all(len(text) > 300 for text in faces.values()), {face: len(text) for face, text in faces.items()}
    assert "***REDACTED***" in faces["logs as JSON"]
    assert "apcore.module.execute" in faces["spans"]
    assert 'module_id="vault.open"' in faces["metrics"]
    assert "vault.gated" in faces["webhook bodies"]
    stored = decrypt(ApprovalRequest.objects.first().inputs_encrypted)
    assert PIN in json.dumps(stored)
    assert PASSWORD in json.dumps(stored)
