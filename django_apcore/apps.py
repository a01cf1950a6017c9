"""The Django app."""

import atexit
import logging
import signal
import threading
from importlib import import_module
from typing import Any, NoReturn

from django.apps import AppConfig
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.db import router
from django.db.models.signals import post_migrate

from apcore.errors import ModuleError
from django_apcore.conf import get_settings, register_bus_namespace

logger = logging.getLogger("django_apcore")


class Terminated(SystemExit):
    """The process was asked to end (SIGTERM)."""


class DjangoApcoreConfig(AppConfig):
    """Loads the modules of all installed apps and connects. It does not query, and it starts nothing (§9.13.3)."""

    name = "django_apcore"
    label = "django_apcore"
    verbose_name = "apcore"
    default_auto_field = "django.db.models.BigAutoField"

    registry: Any = None
    """The registry of this process; see `django_apcore.runtime`."""
    notices: tuple[str, ...] = ()
    """What was warned about while the registry was filled; see `django_apcore.runtime`."""
    runtime: Any = None
    """The runtime of this process; see `django_apcore.runtime`."""

    def ready(self) -> None:
        """Register the system checks and the error formatter, hook up the capture of effects, and load the modules.

        A broken module file ends the start with its traceback, and so does a definition that is refused. What is wrong
        with the configuration is told by the system checks, all of it; until it is mended no module can be called.
        Rooms that need the models are imported here and by name, since apps are loaded before models.
        """
        checks = import_module("django_apcore.checks")
        import_module("django_apcore.effects").install()
        import_module("django_apcore.api.errors").register_error_formatter()
        setting_changed.connect(self._forget, dispatch_uid="django_apcore.apps")
        post_migrate.connect(self._make_heads, sender=self, dispatch_uid="django_apcore.apps")
        register_bus_namespace()
        try:
            get_settings()
        except ImproperlyConfigured as error:
            logger.critical("No module can be called until the configuration is mended: %s", error)
            return
        try:
            self._runtime_room.get_registry()
        except ModuleError as error:
            # One start tells everything that is wrong, with the words of the system checks.
            for message in checks.refusals():
                error.add_note(str(message))
            raise
        atexit.register(self._stop)
        if get_settings().usage_flush_seconds:
            _end_in_order_when_told_to()

    def get_runtime(self) -> Any:
        """The runtime of this process, for the rooms below `django_apcore.runtime`."""
        return self._runtime_room.get()

    def _stop(self) -> None:
        if self.runtime is not None:
            self._runtime_room.stop()

    @property
    def _runtime_room(self) -> Any:
        return import_module("django_apcore.runtime")

    def _make_heads(self, *, using: str, apps: Any = None, **kwargs: Any) -> None:
        """Have the chains of the audit trail begin, where the table is: not in other databases, nor after `zero`."""
        known = self.models if apps is None else apps.all_models[self.label]
        if "auditchain" in known and router.allow_migrate_model(using, self.get_model("AuditChain")):
            import_module("django_apcore.services.audit").make_heads(using)

    def _forget(self, *, setting: str, **kwargs: Any) -> None:
        if setting in {"APCORE", "INSTALLED_APPS"}:
            self._runtime_room.reset()


def _end_in_order_when_told_to() -> None:
    """Let SIGTERM end a process as `sys.exit()` does, so that what it has in memory is written.

    Only where SIGTERM would kill it: servers and workers that end in order by themselves are left alone.
    """
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)


def _terminate(number: int, frame: Any) -> NoReturn:
    raise Terminated(128 + number)
