"""What the reader may set: DEMO_SERVE and DEMO_PORT.

Two more are read where they are used: DEMO_PASSWORD by `manage.py store_setup`, and DEMO_VAR_DIR for the demo's folder.
"""

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    serve: bool
    port: int


def read_options() -> Options:
    """Raises ValueError, with a sentence for the reader, when a variable makes no sense."""
    serve, port = os.environ.get("DEMO_SERVE") or "1", os.environ.get("DEMO_PORT") or "8000"
    if serve not in {"0", "1"}:
        raise ValueError(f"DEMO_SERVE is 1 (keep serving) or 0 (end after the story), not {serve!r}.")
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"DEMO_PORT is a port number, not {port!r}.")
    return Options(serve == "1", int(port))
