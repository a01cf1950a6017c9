"""What can be done, one verb per file: permission, row lock, status check, audit entry and signal together."""

from django_apcore.services._announce import store_held
from django_apcore.services._calls import secrets_of, sensitive_keys
from django_apcore.services._database import is_connection_lost, may_pass, sqlstate_of
from django_apcore.services._deliveries import has_stored, store_deliveries
from django_apcore.services._requests import find as find_request
from django_apcore.services._requests import policy_for
from django_apcore.services._tasks import find_task
from django_apcore.services.answer import refuse, result_of
from django_apcore.services.approve import approve
from django_apcore.services.archive import archive
from django_apcore.services.audit import append
from django_apcore.services.cancel import cancel
from django_apcore.services.cancel_task import cancel_task
from django_apcore.services.consume import consume, record_outcome
from django_apcore.services.deliver_outbox import deliver_outbox, dispatch_outbox
from django_apcore.services.deliver_webhooks import deliver_webhooks, retry_delivery
from django_apcore.services.execute import dispatch_approved, enqueue, execute_approved
from django_apcore.services.expire import expire, expire_due
from django_apcore.services.export_trail import export_trail
from django_apcore.services.fail import fail
from django_apcore.services.health import HealthReport, check_health, is_alive, record_verification
from django_apcore.services.keep_records import Kept, keep_records
from django_apcore.services.measure import measure
from django_apcore.services.name_actors import name_actors
from django_apcore.services.override import drop_override, override, shown_value, value_of
from django_apcore.services.present import present
from django_apcore.services.prune import prune
from django_apcore.services.publish_policy import delete_policy, delete_rule, replace_rules, save_policy, save_rule
from django_apcore.services.reject import reject
from django_apcore.services.remeasure import remeasure
from django_apcore.services.remove_delivered import remove_delivered
from django_apcore.services.remove_details import remove_details
from django_apcore.services.request import open_request
from django_apcore.services.resume import resume
from django_apcore.services.run_task import run_task
from django_apcore.services.save_webhook import check_webhook, delete_webhook, save_webhook
from django_apcore.services.seal import SegmentState, seal, segments
from django_apcore.services.submit import dispatch_submitted, submit
from django_apcore.services.supersede import supersede
from django_apcore.services.toggle import toggle
from django_apcore.services.verify import BrokenEntry, VerificationReport, verify
from django_apcore.services.verify_file import FileReport, verify_files
from django_apcore.services.waiting import Queue, waiting

__all__ = [
    "BrokenEntry",
    "FileReport",
    "HealthReport",
    "Kept",
    "Queue",
    "SegmentState",
    "VerificationReport",
    "append",
    "approve",
    "archive",
    "cancel",
    "cancel_task",
    "check_health",
    "check_webhook",
    "consume",
    "delete_policy",
    "delete_rule",
    "delete_webhook",
    "deliver_outbox",
    "deliver_webhooks",
    "dispatch_approved",
    "dispatch_outbox",
    "dispatch_submitted",
    "drop_override",
    "enqueue",
    "execute_approved",
    "expire",
    "expire_due",
    "export_trail",
    "fail",
    "find_request",
    "find_task",
    "has_stored",
    "is_alive",
    "is_connection_lost",
    "keep_records",
    "may_pass",
    "measure",
    "name_actors",
    "open_request",
    "override",
    "policy_for",
    "present",
    "prune",
    "record_outcome",
    "record_verification",
    "refuse",
    "reject",
    "remeasure",
    "remove_delivered",
    "remove_details",
    "replace_rules",
    "result_of",
    "resume",
    "retry_delivery",
    "run_task",
    "save_policy",
    "save_rule",
    "save_webhook",
    "seal",
    "secrets_of",
    "segments",
    "sensitive_keys",
    "shown_value",
    "sqlstate_of",
    "store_deliveries",
    "store_held",
    "submit",
    "supersede",
    "toggle",
    "value_of",
    "verify",
    "verify_files",
    "waiting",
]
