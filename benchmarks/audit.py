"""How many entries the audit trail takes, from one process and from eight at once, and how fast it is read.

On SQLite, or on the empty database that APCORE_DATABASE_URL names.
"""

import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks.timing import Measurement, Settings
from django_apcore import services
from django_apcore.models import AuditEntry

ENTRIES_PER_SECOND = 500
ALONE = "append, one process"


def cases(settings: Settings) -> Iterator[Measurement]:
    seconds = 25 * settings.round_seconds
    yield Measurement(ALONE, _seconds_per_entry(1, seconds))
    yield Measurement("append, eight processes", _seconds_per_entry(8, seconds), ALONE, 1 / ENTRIES_PER_SECOND)
    start, report = time.perf_counter(), services.verify()
    assert report.ok, report.broken
    yield Measurement("verify, each entry", (time.perf_counter() - start) / report.entries)
    start, lines = time.perf_counter(), sum(1 for _ in services.export_trail())
    yield Measurement("export, each entry", (time.perf_counter() - start) / lines)


def _seconds_per_entry(processes: int, seconds: float) -> float:
    """Let several processes write until the same instant, and divide the time by what has arrived."""
    command = [sys.executable, "-m", "benchmarks.audit_writer"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen(command, **pipes) for _ in range(processes)]
    assert all(writer.stdout.readline() == "ready\n" for writer in writers)
    before, start = AuditEntry.objects.count(), time.time()
    for writer in writers:
        writer.stdin.write(f"{start + seconds}\n")
        writer.stdin.flush()
    assert all(writer.wait() == 0 for writer in writers)
    return (time.time() - start) / (AuditEntry.objects.count() - before)
