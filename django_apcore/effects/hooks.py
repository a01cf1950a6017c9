"""The hooks that outlive a run. All of them do nothing where no run is active."""

from django_apcore.effects.background import hold_tasks
from django_apcore.effects.defaults import watch_defaults
from django_apcore.effects.mail import hold_mail


def install() -> None:
    """Install the hooks for this process: random defaults, mail, Celery. Call it when all models are loaded. Idempotent."""
    watch_defaults()
    hold_mail()
    hold_tasks()
