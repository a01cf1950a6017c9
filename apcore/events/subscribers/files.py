"""Events as lines of JSON, in a file or on standard output."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from apcore.events.event import Event

_MODE = 0o600  # events name people and what they do


class FileSubscriber:
    """Appends every event to a file, one JSON object a line.

    The file is opened for each event, so that it may be moved away at any time, and written with one call, so that
    several processes may share it. What cannot be written is logged by the emitter.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    def on_event(self, event: Event) -> None:
        """Append one line. Raises OSError."""
        line = f"{event.to_json()}\n".encode("utf-8", "replace")
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _MODE)
        try:
            while line:
                line = line[os.write(file, line) :]
        finally:
            os.close(file)


class StdoutSubscriber:
    """Writes every event to standard output, one JSON object a line."""

    def on_event(self, event: Event) -> None:
        """Write one line, at once."""
        sys.stdout.write(f"{event.to_json()}\n")
        sys.stdout.flush()
