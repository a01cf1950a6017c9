"""Errors that were counted before it was known whose they are."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection
from django.utils import timezone

from django_apcore.models import UsageBucket

pytestmark = pytest.mark.django_db


def test_earlier_errors_are_taken_for_the_modules_own() -> None:
    now = timezone.now()
    for errors in (0, 3):
        UsageBucket.objects.create(
            module_id="a.one", start=now, last_called_at=now, caller_type="user", latency_bin=errors, errors=errors
        )
    migration = import_module("django_apcore.migrations.0015_usage_faults")
    migration.take_all(apps, SimpleNamespace(connection=connection))
    assert set(UsageBucket.objects.values_list("errors", "faults")) == {(0, 0), (3, 3)}
