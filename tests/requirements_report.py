"""Compares the requirements that tests claim with the list of all requirements.

    python -m tests.requirements_report            # a table by area
    python -m tests.requirements_report --missing  # and the IDs that no test claims
    python -m tests.requirements_report --json

Claims are read from the source of the tests (`@pytest.mark.req("R-6.3-01")`), not from a run, so that the report needs
no database and sees every test. The exit status is 1 when a test claims an ID that does not exist.
"""

import argparse
import ast
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

TESTS = Path(__file__).resolve().parent
REQUIREMENTS = TESTS / "requirements.yaml"


@dataclass(frozen=True, slots=True)
class Requirement:
    id: str
    level: str
    area: str


@dataclass(frozen=True, slots=True)
class Report:
    """`covered` maps an ID to the places ("tests/apcore/acl/test_rules.py:12") that claim it."""

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


def claims_in(source: str) -> Iterator[tuple[str, int]]:
    """Every requirement ID that `source` claims, with its line. An ID that is not written out is an error."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and _is_req_marker(node.func):
            for argument in node.args:
                if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                    raise ValueError(f"line {argument.lineno}: write requirement IDs out, one string each")
                yield argument.value, argument.lineno


def _is_req_marker(function: ast.expr) -> bool:
    """Whether the expression reads `….mark.req`, as in `pytest.mark.req`."""
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "req"
        and (getattr(function.value, "attr", None) == "mark" or getattr(function.value, "id", None) == "mark")
    )


def collect_claims(folder: Path = TESTS) -> dict[str, list[str]]:
    claims: defaultdict[str, list[str]] = defaultdict(list)
    for file in sorted(folder.rglob("test_*.py")):
        place = file.relative_to(folder.parent)
        try:
            for requirement, line in claims_in(file.read_text(encoding="utf-8")):
                claims[requirement].append(f"{place}:{line}")
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from error
    return dict(claims)


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
        yield f"unknown requirement {requirement}, claimed in {', '.join(places)}"


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
