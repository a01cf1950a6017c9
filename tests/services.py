"""Which services this machine has, for tests that need a real one; what has to be fetched counts as one.

`python -m tests.services postgresql` answers by its exit status.
"""

import os
import shutil
import socket
import sys
from urllib.parse import urlsplit

from tools import json_schema_suite

POSTGRESQL_URL = os.environ.get("APCORE_TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
REDIS_URL = os.environ.get("APCORE_TEST_REDIS_URL", "redis://127.0.0.1:6379/15")
RABBITMQ_URL = os.environ.get("APCORE_TEST_RABBITMQ_URL", "amqp://guest:guest@127.0.0.1:5672//")

_URLS = {"postgresql": POSTGRESQL_URL, "redis": REDIS_URL, "rabbitmq": RABBITMQ_URL}
_DEFAULT_PORTS = {"postgresql": 5432, "redis": 6379, "rabbitmq": 5672}


def chromium() -> str | None:
    """The path of a Chromium that Playwright can drive, or None."""
    wanted = os.environ.get("APCORE_TEST_CHROMIUM")
    return wanted or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def is_available(service: str) -> bool:
    if service == "chromium":
        return chromium() is not None
    if service == "promtool":
        return shutil.which("promtool") is not None
    if service == "json-schema-suite":
        return json_schema_suite.archive().exists()
    parts = urlsplit(_URLS[service])
    try:
        with socket.create_connection((parts.hostname, parts.port or _DEFAULT_PORTS[service]), timeout=2):
            return True
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(0 if is_available(sys.argv[1]) else 1)
