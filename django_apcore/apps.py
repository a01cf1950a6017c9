"""The Django app."""

from django.apps import AppConfig


class DjangoApcoreConfig(AppConfig):
    """Registers what others look up. It does not query, and it starts nothing (§9.13.3)."""

    name = "django_apcore"
    label = "django_apcore"
    verbose_name = "apcore"
    default_auto_field = "django.db.models.BigAutoField"
