"""Switching modules in the admin."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client

from django_apcore import runtime
from django_apcore.models import AuditEntry, PolicyRevision, Toggle
from django_apcore.testing import override_runtime
from tests.django_apcore.stage import MODULES

pytestmark = pytest.mark.django_db
TOGGLES = "/admin/django_apcore/toggle/"


@pytest.fixture(autouse=True)
def modules() -> Iterator[None]:
    with override_runtime(modules=MODULES, installed=False):
        yield


def test_a_module_is_switched_off_and_the_process_knows_at_once(admin_client: Client, admin_user: User) -> None:
    data = {"module_id": "test.plain.echo", "reason": "It answers nonsense"}

    assert admin_client.post(f"{TOGGLES}add/", data).status_code == 302

    toggle = Toggle.objects.get()
    assert (toggle.enabled, toggle.reason, toggle.updated_by) == (False, "It answers nonsense", admin_user)
    assert not runtime.get().toggles.is_enabled("test.plain.echo")
    assert AuditEntry.objects.get(kind="toggle.disabled").actor_id == str(admin_user.pk)
    assert PolicyRevision.objects.get(name="toggles").revision == 1


def test_a_module_is_switched_on_again_and_keeps_its_id(admin_client: Client) -> None:
    toggle = Toggle.objects.create(module_id="test.plain.echo", enabled=False)

    admin_client.post(f"{TOGGLES}{toggle.pk}/change/", {"enabled": "on", "module_id": "test.groups.create"})

    toggle.refresh_from_db()
    assert (toggle.module_id, toggle.enabled) == ("test.plain.echo", True)


def test_there_are_only_modules_to_choose_that_exist_and_have_no_toggle(admin_client: Client) -> None:
    Toggle.objects.create(module_id="test.plain.echo")

    form = admin_client.get(f"{TOGGLES}add/").context["adminform"].form
    choices = [value for value, _label in form.fields["module_id"].choices]

    assert "test.groups.create" in choices
    assert "test.plain.echo" not in choices
    response = admin_client.post(f"{TOGGLES}add/", {"module_id": "test.nothing.there"})
    assert "valid choice" in str(response.context["adminform"].form.errors)


def test_a_new_toggle_proposes_to_switch_off(admin_client: Client) -> None:
    form = admin_client.get(f"{TOGGLES}add/").context["adminform"].form

    assert form.initial["enabled"] is False


def test_toggles_are_never_deleted(admin_client: Client) -> None:
    toggle = Toggle.objects.create(module_id="test.plain.echo")

    assert admin_client.post(f"{TOGGLES}{toggle.pk}/delete/", {"post": "yes"}).status_code == 403
