"""Metrics in Prometheus' text form: what the processes of this server counted, and what waits in the database."""

import hmac
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.permissions import BasePermission
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from django_apcore import runtime, services
from django_apcore.api.base import ApiView
from django_apcore.conf import get_settings, imported

_WAITING = "apcore_waiting"
_AGE = "apcore_waiting_seconds"


class ExpositionRenderer(BaseRenderer):
    """The text is made by Prometheus' own library; nothing is left to render."""

    media_type = "text/plain"
    format = "prometheus"
    charset = "utf-8"

    def render(self, data: Any, media_type: str | None = None, context: Mapping[str, Any] | None = None) -> bytes:
        return bytes(data)


@extend_schema(exclude=True)
class MetricsView(ApiView):
    """Open to whoever has `METRICS_TOKEN`, and to those whom `METRICS_PERMISSION_CLASSES` admit; to nobody else."""

    renderer_classes = [ExpositionRenderer]

    def get_permissions(self) -> list[BasePermission]:
        if self._has_token():
            return []
        return [imported(path)() for path in get_settings().metrics_permission_classes]

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[BaseRenderer, str]:
        """There is one form, which every scraper reads, whatever else it would like better."""
        return ExpositionRenderer(), ExpositionRenderer.media_type

    def get(self, request: Request) -> Response:
        """The exposition."""
        metrics = import_module("apcore.telemetry.metrics")  # its library is not for those who have it switched off
        app = runtime.get().app
        collector = app.metrics or metrics.MetricsCollector()
        usage = import_module("apcore.telemetry.usage_metrics").UsageMetrics(app.usage)
        return Response(collector.exposition(Queues(), usage), content_type=metrics.CONTENT_TYPE)

    def _has_token(self) -> bool:
        expected, given = get_settings().metrics_token, self.request.headers.get("Authorization", "")
        return bool(expected) and hmac.compare_digest(given.encode(), f"Bearer {expected}".encode())


class Queues:
    """A collector that asks the database when somebody looks."""

    def collect(self) -> Iterator[Any]:
        """The length of each queue, and how long the oldest of it has waited."""
        gauge = import_module("prometheus_client.metrics_core").GaugeMetricFamily
        length = gauge(_WAITING, "How much waits for a decision, a worker, delivery…", labels=["queue"])
        age = gauge(_AGE, "How long the oldest of a queue has waited, in seconds.", labels=["queue"])
        for queue in services.waiting():
            length.add_metric([queue.name], queue.length)
            age.add_metric([queue.name], queue.seconds)
        yield from (length, age)
