"""The hooks that outlive a run. All of them do nothing where no run is active."""

from django_apcore.effects.canonical.defaults import watch_defaults
from django_apcore.effects.database.bystanders import watch_other_connections
from django_apcore.effects.held.background import hold_tasks
from django_apcore.effects.held.cache import hold_caches
from django_apcore.effects.held.files import hold_files
from django_apcore.effects.held.mail import hold_mail
from django_apcore.effects.outside.threads import follow_threads
from django_apcore.effects.outside.watch import watch_outside


def install() -> None:
    """Install the hooks of this process: random defaults, mail, Celery, caches, storages, what leaves the process.

    Idempotent; all models must be loaded.
    """
    watch_defaults()
    hold_mail()
    hold_tasks()
    hold_caches()
    hold_files()
    watch_other_connections()
    watch_outside()
    follow_threads()
