"""Settings of the tests: the reference project, a second database, and the app with the ORM write matrix.

APCORE_TEST_DATABASE chooses sqlite (the default) or postgresql. Each run has its own test databases, so that two runs
on one machine do not meet. A process that a test starts (a worker, a web server) is told through APCORE_DATABASE_URL
and APCORE_OTHER_DATABASE_URL to use the databases of that test.
"""

import os

from django.core.exceptions import ImproperlyConfigured

from project import env
from project.settings import *  # noqa: F403 - a settings module is its names
from project.settings import APCORE, INSTALLED_APPS, VAR_DIR

_RUN = os.environ.get("APCORE_TEST_RUN", str(os.getpid()))
_POSTGRESQL_URL = os.environ.get("APCORE_TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")


def _test_database(alias: str, given_url: str) -> dict[str, object]:
    if given_url:
        return env.database(given_url, VAR_DIR / f"test-{alias}.sqlite3")
    match os.environ.get("APCORE_TEST_DATABASE", "sqlite"):
        case "sqlite":
            return env.sqlite(VAR_DIR / f"test-{alias}.sqlite3")
        case "postgresql":
            names = {"NAME": f"test_apcore_{alias}_{_RUN}"}
            return {**env.database(_POSTGRESQL_URL, VAR_DIR), "CONN_MAX_AGE": 0, "TEST": names}
        case other:
            raise ImproperlyConfigured(f"APCORE_TEST_DATABASE must be sqlite or postgresql; it is {other!r}")


DATABASES = {
    "default": _test_database("default", os.environ.get("APCORE_DATABASE_URL", "")),
    "other": _test_database("other", os.environ.get("APCORE_OTHER_DATABASE_URL", "")),
}

INSTALLED_APPS = [*INSTALLED_APPS, "tests.matrix"]
APCORE = {
    **APCORE,
    "INVARIANTS": "raise",
    "SYS_MODULES": {"enabled": False},  # registered where a test asks for them
    "USAGE_FLUSH_SECONDS": float(os.environ.get("APCORE_TEST_USAGE_FLUSH_SECONDS", "0")),
}
SECRET_KEY = "a key for tests only"
SECRET_KEY_FALLBACKS: list[str] = []
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = os.environ.get("APCORE_TEST_EMAIL_BACKEND", "django.core.mail.backends.locmem.EmailBackend")

# Messages of tests go nowhere; tests with real workers name their broker.
CELERY_BROKER_URL = os.environ.get("APCORE_BROKER_URL", "memory://localhost//")
