"""The Celery application of the reference project; its settings are the CELERY_* names of project.settings."""

import os

from celery import Celery

from project import telemetry

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")
telemetry.start()

app = Celery("project")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
