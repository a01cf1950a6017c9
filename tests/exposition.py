"""What `promtool check metrics` says, and where it is missing, what the Python parser of Prometheus lets us say."""

import subprocess
from collections import Counter

from prometheus_client.parser import text_string_to_metric_families


def promtool_problems(text: str) -> list[str]:
    """What the linter of Prometheus itself says, a line each."""
    command = ["promtool", "check", "metrics"]
    run = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    said = (run.stdout + run.stderr).splitlines()
    return said or ([] if run.returncode == 0 else [f"exit status {run.returncode}"])


def problems(text: str) -> list[str]:
    """What is wrong with an exposition in the text format; empty if nothing is."""
    found = [] if text.endswith("\n") else ["it does not end in a line feed"]
    lines = text.splitlines()
    for word in ("HELP", "TYPE"):
        told = Counter(line.split()[2] for line in lines if line.startswith(f"# {word} "))
        found += [f"{name}: {word} more than once" for name, times in told.items() if times > 1]
    samples = Counter(line.rsplit(" ", 1)[0] for line in lines if line and not line.startswith("#"))
    found += [f"{sample}: more than once" for sample, times in samples.items() if times > 1]
    typed = dict(line.split()[2:4] for line in lines if line.startswith("# TYPE "))
    found += [
        f"{name}: a counter ends in _total"
        for name, kind in typed.items()
        if kind == "counter" and not name.endswith("_total")
    ]
    for family in text_string_to_metric_families(text):
        if not family.documentation:
            found.append(f"{family.name}: no help text")
        if any(ending in family.name for ending in ("_milliseconds", "_minutes", "_ms")):
            found.append(f"{family.name}: times are seconds")
        for sample in family.samples:
            if family.type == "gauge" and sample.name.endswith(("_total", "_count", "_sum", "_bucket")):
                found.append(f"{sample.name}: a gauge has no such ending")
    return found
