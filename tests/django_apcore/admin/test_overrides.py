"""Configuration overrides in the admin."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from django_apcore import services
from django_apcore.models import AuditEntry, Override

pytestmark = pytest.mark.django_db
OVERRIDES = "/admin/django_apcore/override/"


def test_values_are_listed_and_secrets_are_not(admin_client: Client) -> None:
    services.override("executor.default_timeout", 1234, actor=None, reason="slow tests")
    services.override("db.password", "hunter2-and-more", actor=None)
    page = admin_client.get(OVERRIDES).content.decode()
    assert "1234" in page
    assert "slow tests" in page
    row = Override.objects.get(key="db.password")
    for shown in (page, admin_client.get(f"{OVERRIDES}{row.pk}/change/").content.decode()):
        assert "***REDACTED***" in shown
        assert "hunter2" not in shown
        assert row.value_encrypted not in shown


def test_a_deleted_one_is_in_the_trail_under_the_name_of_who_did_it(admin_client: Client, admin_user: User) -> None:
    row = services.override("executor.default_timeout", 1234, actor=None)
    response = admin_client.post(f"{OVERRIDES}{row.pk}/delete/", {"post": "yes"})
    assert response.status_code == 302
    assert not Override.objects.exists()
    assert AuditEntry.objects.get(kind="config.restored").actor_id == str(admin_user.pk)


def test_nobody_adds_or_changes_one_here(admin_client: Client, client: Client, db: None) -> None:
    row = services.override("executor.default_timeout", 1234, actor=None)
    assert admin_client.get(f"{OVERRIDES}add/").status_code == 403
    assert admin_client.post(f"{OVERRIDES}{row.pk}/change/", {"key": "other"}).status_code == 403

    reader = User.objects.create_user("vera", password="pw", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_override"))
    client.force_login(reader)
    assert client.get(OVERRIDES).status_code == 200
    assert client.post(f"{OVERRIDES}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    assert Override.objects.get().key == "executor.default_timeout"
