"""Switching modules."""

import pytest
from django.contrib.auth.models import User

from apcore.errors import InvalidModuleIdError
from django_apcore import services
from django_apcore.models import AuditEntry, PolicyRevision, Toggle
from django_apcore.signals import toggle_changed

pytestmark = pytest.mark.django_db(databases=["default", "other"])


def test_a_module_is_switched_off_and_on(approver: User) -> None:
    services.toggle("store.refund", enabled=False, actor=approver, reason="incident 7")
    row = Toggle.objects.get()
    assert (row.module_id, row.enabled, row.reason, row.updated_by) == ("store.refund", False, "incident 7", approver)
    services.toggle("store.refund", enabled=True, actor=approver)
    assert Toggle.objects.get().enabled
    assert PolicyRevision.objects.get(name="toggles").revision == 2
    kinds = AuditEntry.objects.order_by("pk").values_list("kind", "subject", "module_id")
    assert list(kinds) == [
        ("toggle.disabled", "module:store.refund", "store.refund"),
        ("toggle.enabled", "module:store.refund", "store.refund"),
    ]


def test_it_is_announced(approver: User, signals, django_capture_on_commit_callbacks) -> None:  # type: ignore[no-untyped-def]  # fixtures of plugins have no types
    with signals(toggle_changed) as heard, django_capture_on_commit_callbacks(execute=True):
        services.toggle("store.refund", enabled=False, actor=approver)
    assert heard[0]["toggle"].module_id == "store.refund"


def test_it_has_to_be_a_module_id() -> None:
    with pytest.raises(InvalidModuleIdError):
        services.toggle("Store Refund", enabled=False, actor=None)
    assert not Toggle.objects.exists()
