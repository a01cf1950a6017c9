"""The reference project: a music store whose operations are governed."""

from project.celery import app as celery_app

__all__ = ["celery_app"]
