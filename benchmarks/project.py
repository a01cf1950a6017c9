"""The reference project on a database of its own, gone when the measurements are done."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import django
from django.core.management import call_command
from django.db import connections


@contextmanager
def temporary_project() -> Iterator[None]:
    """Django set up, migrated and loaded with the sample store, in a temporary folder (SQLite)."""
    with tempfile.TemporaryDirectory(prefix="apcore-bench-") as folder:
        os.environ.update(APCORE_VAR_DIR=folder, APCORE_LOG_LEVEL="ERROR", DJANGO_SETTINGS_MODULE="project.settings")
        django.setup()
        call_command("migrate", verbosity=0)
        call_command("loaddata", "fixtures/store.json.gz", verbosity=0)
        try:
            yield
        finally:
            connections.close_all()
