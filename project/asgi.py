"""ASGI entry point of the reference project."""

import os

from django.core.asgi import get_asgi_application

from project import telemetry

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")
telemetry.start()

application = get_asgi_application()
