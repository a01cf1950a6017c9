"""Is everything there that calls, approvals and workers need?"""

from django_apcore.services.health.check import HealthReport, check_health, is_alive
from django_apcore.services.health.finding import Finding
from django_apcore.services.health.heartbeats import beat, forget_worker, record_verification
from django_apcore.services.health.pulse import Pulse

__all__ = [
    "Finding",
    "HealthReport",
    "Pulse",
    "beat",
    "check_health",
    "forget_worker",
    "is_alive",
    "record_verification",
]
