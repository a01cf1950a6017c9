"""WSGI entry point of the reference project."""

import os

from django.core.wsgi import get_wsgi_application

from project import telemetry

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")
telemetry.start()

application = get_wsgi_application()
