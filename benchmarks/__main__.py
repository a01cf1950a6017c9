"""Runs the measurements and prints medians, with ratios to what they are compared with."""

import argparse
import json
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib import import_module

from benchmarks.project import temporary_project
from benchmarks.timing import Measurement, Settings

SUITES = ("audit", "calls", "observing", "effects", "outside", "registration", "watching")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What calls and previews cost.")
    parser.add_argument("suites", nargs="*", metavar="suite", help=f"which of {', '.join(SUITES)}; all by default")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--json", action="store_true", help="print the medians as JSON, in seconds")
    parser.add_argument("--check", action="store_true", help="exit status 1 when a target is missed")
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.suites) - set(SUITES)):
        parser.error(f"unknown suite {unknown[0]}; there are {', '.join(SUITES)}")
    settings = Settings(rounds=3, round_seconds=0.02) if options.quick else Settings()
    measurements = []
    with temporary_project():
        for name in options.suites or SUITES:
            measurements += _run(name, settings, quiet=options.json)
    if options.json:
        print(json.dumps({"python": platform.python_version(), "cases": [asdict(each) for each in measurements]}))
    return 1 if options.check and any(each.missed for each in measurements) else 0


def _run(suite: str, settings: Settings, *, quiet: bool) -> Iterator[Measurement]:
    seconds: dict[str, float] = {}
    if not quiet:
        print(f"\n{suite}\n{'':44} {'median':>12}")
    cases = import_module(f"benchmarks.{suite}").cases  # not before Django is ready
    for each in cases(settings):
        seconds[each.name] = each.seconds
        if not quiet:
            print(_line(each, seconds.get(each.compared_with)), flush=True)
        yield each


def _line(each: Measurement, base: float | None) -> str:
    ratio = f"  {each.seconds / base:7.1f} x {each.compared_with}" if base else ""
    target = "" if each.target_seconds is None else f"  (target {_duration(each.target_seconds).strip()}"
    verdict = "" if not target else (", missed)" if each.missed else ", met)")
    memory = "" if each.megabytes is None else f"  {each.megabytes:7.1f} MB"
    return f"{each.name:44} {_duration(each.seconds):>12}{memory}{ratio}{target}{verdict}"


def _duration(seconds: float) -> str:
    return f"{seconds * 1e6:9.2f} µs" if seconds < 1e-3 else f"{seconds * 1e3:9.2f} ms"


if __name__ == "__main__":
    sys.exit(main())
