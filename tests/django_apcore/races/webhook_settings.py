"""Settings of a worker that may reach the receiver of a test, which is on this machine."""

from tests.settings import *  # noqa: F403 - a settings module is its names
from tests.settings import APCORE

APCORE = {**APCORE, "WEBHOOK_ALLOW_PRIVATE": True}
