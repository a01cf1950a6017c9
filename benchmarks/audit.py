"""How many entries the audit trail takes, from one process and from eight at once, and how fast it is read.

On SQLite, or on the empty database that APCORE_DATABASE_URL names. Where eight writers are slower than their processor
time says, the machine has too few processors, or they wait for the disk or for each other.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.timing import Measurement, Settings
from django_apcore import services
from django_apcore.models import AuditEntry

ENTRIES_PER_SECOND = 500
ALONE = "append, one process"


def cases(settings: Settings) -> Iterator[Measurement]:
    seconds = 25 * settings.round_seconds
    alone, eight = _writing(1, seconds), _writing(8, seconds)
    yield Measurement(ALONE, alone.seconds)
    yield Measurement("append, eight processes", eight.seconds, ALONE, 1 / ENTRIES_PER_SECOND)
    yield Measurement("append, processor of one writer", alone.processor_seconds)
    yield Measurement("append, processor of one of eight writers", eight.processor_seconds)
    start, report = time.perf_counter(), services.verify()
    assert report.ok, report.broken
    yield Measurement("verify, each entry", (time.perf_counter() - start) / report.entries)
    start, lines = time.perf_counter(), sum(1 for _ in services.export_trail())
    yield Measurement("export, each entry", (time.perf_counter() - start) / lines)


@dataclass(frozen=True, slots=True)
class Writing:
    """What one entry took: of the clock, with all processes writing, and of the processor of its writer."""

    seconds: float
    processor_seconds: float


def _writing(processes: int, seconds: float) -> Writing:
    """Let several processes write until the same instant."""
    command = [sys.executable, "-m", "benchmarks.audit_writer"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen(command, **pipes) for _ in range(processes)]
    assert all(writer.stdout.readline() == "ready\n" for writer in writers)
    before, start = AuditEntry.objects.count(), time.time()
    for writer in writers:
        writer.stdin.write(f"{start + seconds}\n")
        writer.stdin.flush()
    said = [writer.communicate()[0].split() for writer in writers]
    entries = sum(int(written) for written, _, _ in said)
    assert entries == AuditEntry.objects.count() - before
    lasted = max(float(end) for _, end, _ in said) - start
    return Writing(lasted / entries, sum(float(spent) for _, _, spent in said) / entries)
