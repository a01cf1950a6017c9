"""The report on requirements: what counts as a claim, and what the comparison says."""

import json
from pathlib import Path

import pytest

from tests.requirements_report import (
    Requirement,
    claims_in,
    collect_claims,
    compare,
    load_requirements,
    main,
    table,
)

MARKER = "pytest.mark.req"


def test_no_test_claims_a_requirement_that_does_not_exist() -> None:
    assert compare(load_requirements(), collect_claims()).unknown == {}


def test_every_requirement_has_a_level_and_an_area() -> None:
    requirements = load_requirements()

    assert len(requirements) > 1000
    assert {each.level for each in requirements} == {"MUST", "MUST_NOT", "SHOULD", "SHOULD_NOT", "MAY", "CONTRACT"}
    assert all(each.area for each in requirements)


def test_claims_are_found_wherever_a_marker_may_stand() -> None:
    source = f"""
pytestmark = [{MARKER}("R-1")]

@{MARKER}("R-2", "R-3")
def test_a(): ...

class TestB:
    @pytest.mark.parametrize("x", [pytest.param(1, marks={MARKER}("R-4"))])
    def test_b(self, x): ...
"""
    assert sorted(claims_in(source)) == [("R-1", 2), ("R-2", 4), ("R-3", 4), ("R-4", 8)]


def test_other_markers_and_words_are_no_claims() -> None:
    assert list(claims_in('req("R-1")\n@pytest.mark.other("R-2")\ndef test_a(): "R-3"')) == []


@pytest.mark.parametrize("argument", ["name", 'f"R-{n}"', "1", "*IDS"])
def test_an_id_that_is_not_written_out_is_refused(argument: str) -> None:
    with pytest.raises(ValueError, match="line 1: write requirement IDs out"):
        list(claims_in(f"x = {MARKER}({argument})"))


def test_the_refusal_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(f"x = {MARKER}(name)")

    with pytest.raises(ValueError, match=r"test_x\.py: line 1"):
        collect_claims(tmp_path)


def test_the_comparison_separates_covered_missing_and_unknown() -> None:
    requirements = [
        Requirement("R-1", "MUST", "acl"),
        Requirement("R-2", "MAY", "acl"),
        Requirement("R-3", "MUST", "ids"),
    ]

    report = compare(requirements, {"R-1": ["a:1"], "R-9": ["b:2"]})

    assert report.covered == {"R-1": ["a:1"]}
    assert [each.id for each in report.missing] == ["R-2", "R-3"]
    assert report.unknown == {"R-9": ["b:2"]}
    assert report.areas == {"acl": (1, 2), "ids": (0, 1)}
    assert "unknown requirement R-9, claimed in b:2" in list(table(report))


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json"]) == 0

    report = json.loads(capsys.readouterr().out)
    assert len(report["covered"]) + len(report["missing"]) == len(load_requirements())


def test_the_command_lists_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--missing"]) == 0

    assert "all areas" in capsys.readouterr().out
