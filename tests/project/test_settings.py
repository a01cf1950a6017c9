"""What the settings promise to those who wait."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

SEND = """
import django
django.setup()
from django_apcore.services import dispatch_outbox
dispatch_outbox()
"""


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_broker_that_accepts_and_never_answers_holds_nobody_up(scheme: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"{scheme}://guest:guest@127.0.0.1:{silent.getsockname()[1]}/"
        env = os.environ | {
            "APCORE_BROKER_URL": url,
            "APCORE_VAR_DIR": str(tmp_path),
            "DJANGO_SETTINGS_MODULE": "project.settings",
        }
        command = [sys.executable, "-c", SEND]
        sent = subprocess.run(command, env=env, timeout=60, capture_output=True, text=True, check=False)
    assert sent.returncode == 0, sent.stderr
    assert "The broker is away" in sent.stderr
