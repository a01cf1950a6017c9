"""A module that can be held while it runs."""

import os
import signal
import time
from pathlib import Path

from django.contrib.auth.models import Group

from apcore import module
from tests.django_apcore import stage


@module(id="test.groups.slow", annotations=stage.GATED, effect="transactional", timeout_ms=120_000)
def create_slowly(name: str) -> int:
    """Create a group; then wait as long as a file named like it says "hold", or end as the file says."""
    group = Group.objects.create(name=name)
    sign = Path(os.environ["RACE_DIR"]) / name
    if sign.exists():
        with sign.with_suffix(".runs").open("a") as runs:
            runs.write("run\n")
        if sign.read_text() == "kill":
            signal.raise_signal(signal.SIGKILL)  # `os.kill()` is refused
        while sign.read_text() == "hold":
            time.sleep(0.01)
    return group.pk
