"""What `promtool check metrics` would say, by Prometheus' own parser and the rules of its linter."""

from collections import Counter

from prometheus_client.parser import text_string_to_metric_families


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
