from django.apps import AppConfig


class StoreConfig(AppConfig):
    name = "project.store"
    label = "store"
    verbose_name = "Music store"
    default_auto_field = "django.db.models.BigAutoField"
