"""Compares the requirements that tests claim with the list of all requirements.

    python -m tests.requirements_report            # a table by area
    python -m tests.requirements_report --missing  # and the IDs that no test claims
    python -m tests.requirements_report --json

A test claims a requirement with `@pytest.mark.req("R-6.3-01")`. The exit status is 1 when a test claims an ID that does
not exist.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

TESTS = Path(__file__).resolve().parent
REQUIREMENTS = TESTS / "requirements.yaml"
PLUGIN = "tests.requirements_plugin"


@dataclass(frozen=True, slots=True)
class Requirement:
    id: str
    level: str
    area: str


@dataclass(frozen=True, slots=True)
class Report:
    """`covered` and `unknown` map an ID to the tests that claim it, `areas` an area to (covered, all)."""

    covered: Mapping[str, Sequence[str]]
    missing: Sequence[Requirement]
    unknown: Mapping[str, Sequence[str]]
    areas: Mapping[str, tuple[int, int]]

    def to_dict(self) -> dict[str, object]:
        return {
            "covered": {key: list(places) for key, places in sorted(self.covered.items())},
            "missing": [requirement.id for requirement in self.missing],
            "unknown": {key: list(places) for key, places in sorted(self.unknown.items())},
            "areas": {area: {"covered": covered, "all": total} for area, (covered, total) in self.areas.items()},
        }


def load_requirements(file: Path = REQUIREMENTS) -> list[Requirement]:
    entries = yaml.safe_load(file.read_text(encoding="utf-8"))
    return [Requirement(key, entry["level"], entry["area"]) for key, entry in entries.items()]


@cache
def collect_claims(folder: Path = TESTS) -> Mapping[str, Sequence[str]]:
    """Which tests claim which requirement, as pytest itself sees it: it collects the tests and runs none of them.

    That takes long, so a process does it once for a folder.

    Raises RuntimeError with pytest's words when a test file cannot be collected.
    """
    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary) / "claims.json"
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-qq",
            "--collect-only",
            "-p",
            PLUGIN,
            f"--claims={file}",
            str(folder),
        ]
        done = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"The tests cannot be collected:\n{done.stdout}{done.stderr}")
        claims: Mapping[str, Sequence[str]] = json.loads(file.read_text(encoding="utf-8"))
    return claims


def compare(requirements: Sequence[Requirement], claims: Mapping[str, Sequence[str]]) -> Report:
    known = {requirement.id for requirement in requirements}
    areas: dict[str, tuple[int, int]] = {}
    for requirement in sorted(requirements, key=lambda each: each.area):
        covered, total = areas.get(requirement.area, (0, 0))
        areas[requirement.area] = covered + (requirement.id in claims), total + 1
    return Report(
        covered={key: places for key, places in claims.items() if key in known},
        missing=[requirement for requirement in requirements if requirement.id not in claims],
        unknown={key: places for key, places in claims.items() if key not in known},
        areas=areas,
    )


def table(report: Report) -> Iterator[str]:
    yield f"{'area':20} {'covered':>8} {'all':>6}"
    for area, (covered, total) in report.areas.items():
        yield f"{area:20} {covered:8} {total:6}"
    yield f"{'all areas':20} {len(report.covered):8} {len(report.covered) + len(report.missing):6}"
    for requirement, places in sorted(report.unknown.items()):
        yield f"unknown requirement {requirement}, claimed by {', '.join(places)}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Which requirements have a test, and which have none.")
    parser.add_argument("--json", action="store_true", help="the whole report as JSON")
    parser.add_argument("--missing", action="store_true", help="list the requirements that no test claims")
    options = parser.parse_args(arguments)
    report = compare(load_requirements(), collect_claims())
    if options.json:
        print(json.dumps(report.to_dict(), indent=2))
    else:
        print(*table(report), sep="\n")
        if options.missing:
            print(*(f"{each.id:12} {each.level:10} {each.area}" for each in report.missing), sep="\n")
    return 1 if report.unknown else 0


if __name__ == "__main__":
    sys.exit(main())
