"""One process that appends to the audit trail: says when it is ready, is told until when to write (Unix time), and says
how many entries it wrote, when it was done, and how many seconds of the processor that took.
"""

import sys
import time
import uuid

import django

django.setup()

from django_apcore import services  # noqa: E402 - Django has to be set up first


def write(end: float) -> int:
    """Append entries like those of approvals, each about another subject, in a transaction of its own; how many."""
    written = 0
    while time.time() < end:
        subject, digest = f"approval:{uuid.uuid4()}", uuid.uuid4().hex
        data = {"provenance": "measured", "effect_digest": digest, "counts": {"store.Track": {"update": 12}}}
        services.append("approval.requested", subject=subject, module_id="store.catalogue.reprice", data=data)
        written += 1
    return written


if __name__ == "__main__":
    services.verify(partition=0)  # what is done once in a process is done
    print("ready", flush=True)
    end = float(sys.stdin.readline())
    before = time.process_time()
    entries = write(end)
    print(entries, time.time(), time.process_time() - before)
