"""The audit trail in the admin: read-only, and verifiable."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from django_apcore import services
from django_apcore.admin.approval_page import page_url
from django_apcore.models import AuditEntry
from tests.django_apcore.admin.factories import approval, person
from tests.django_apcore.trail import unprotected

pytestmark = pytest.mark.django_db
TRAIL = "/admin/django_apcore/auditentry/"
SCRIPT = "<script>alert(1)</script>"


def test_entries_are_read_and_lead_to_what_they_are_about(admin_client: Client, admin_user: User) -> None:
    request = approval()
    entry = services.append("approval.requested", subject=request.subject, actor=admin_user, data={"note": SCRIPT})
    services.append("toggle.disabled", subject=f"module:{SCRIPT}")

    listed = admin_client.get(TRAIL).content.decode()
    shown = admin_client.get(f"{TRAIL}{entry.pk}/change/").content.decode()

    assert page_url(request) in listed
    assert "Verify the chain" in listed
    assert entry.hash in shown
    assert f"{admin_user.username} (user {admin_user.pk})" in listed
    assert f"{admin_user.username} (user {admin_user.pk})" in shown
    assert "<script>alert" not in listed + shown


def test_nobody_adds_changes_or_deletes_entries(admin_client: Client) -> None:
    entry = services.append("toggle.disabled", subject="module:x.y")

    assert admin_client.get(f"{TRAIL}add/").status_code == 403
    assert admin_client.post(f"{TRAIL}add/", {"kind": "x"}).status_code == 403
    assert admin_client.post(f"{TRAIL}{entry.pk}/change/", {"kind": "forged"}).status_code == 403
    assert admin_client.post(f"{TRAIL}{entry.pk}/delete/", {"post": "yes"}).status_code == 403
    selected = {"action": "delete_selected", "_selected_action": [entry.pk], "post": "yes"}
    admin_client.post(TRAIL, selected)
    assert AuditEntry.objects.get(pk=entry.pk).kind == "toggle.disabled"


def test_an_untouched_trail_is_reported_as_that(admin_client: Client) -> None:
    for number in range(3):
        services.append("toggle.disabled", subject=f"module:m{number}.x")

    html = admin_client.get(f"{TRAIL}verify/").content.decode()

    assert "Nobody touched it." in html
    assert "3 entries were read." in html


def test_pruned_entries_are_counted(admin_client: Client, tmp_path: Path) -> None:
    services.append("toggle.disabled", subject="module:x.y")
    services.seal()
    services.archive(tmp_path)
    services.prune(tmp_path, older_than=timedelta(0))

    html = admin_client.get(f"{TRAIL}verify/").content.decode()

    assert "Nobody touched it." in html
    assert "1 older entry is in the archives" in html


def test_a_touched_trail_names_the_entry(admin_client: Client) -> None:
    entry = services.append("toggle.disabled", subject="module:x.y")
    with unprotected():
        AuditEntry.objects.filter(pk=entry.pk).update(kind=SCRIPT)

    html = admin_client.get(f"{TRAIL}verify/").content.decode()

    assert "The trail does not hold." in html
    assert "edited" in html
    assert f"{TRAIL}{entry.pk}/change/" in html
    assert "<script>alert" not in html


def test_verifying_needs_the_permission_to_view(client: Client) -> None:
    client.force_login(person("sam"))

    assert client.get(f"{TRAIL}verify/").status_code == 403
