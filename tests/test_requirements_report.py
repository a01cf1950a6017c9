"""The report on requirements: what counts as a claim, and what the comparison says."""

import json
from pathlib import Path

import pytest

from tests.requirements_report import (
    Requirement,
    collect_claims,
    compare,
    load_requirements,
    main,
    table,
)

TESTS_WITH_CLAIMS = """
import pytest

pytestmark = pytest.mark.req("X-1")
TABLE = [("X-4", 1), ("X-4", 2)]


@pytest.mark.req("X-2", "X-3")
def test_a(): ...


class TestB:
    @pytest.mark.parametrize("value", [pytest.param(value, marks=pytest.mark.req(name)) for name, value in TABLE])
    def test_b(self, value): ...
"""


def test_every_requirement_has_a_level_and_an_area() -> None:
    requirements = load_requirements()

    assert len(requirements) > 1000
    assert {each.level for each in requirements} == {"MUST", "MUST_NOT", "SHOULD", "SHOULD_NOT", "MAY", "CONTRACT"}
    assert all(each.area for each in requirements)


def test_claims_are_found_wherever_a_marker_may_stand(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(TESTS_WITH_CLAIMS)

    claims = collect_claims(tmp_path)

    assert {name: len(tests) for name, tests in claims.items()} == {"X-1": 3, "X-2": 1, "X-3": 1, "X-4": 2}
    assert claims["X-2"][0].endswith("test_x.py::test_a")


def test_a_file_that_cannot_be_collected_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text("import no_such_module")

    with pytest.raises(RuntimeError, match="no_such_module"):
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
    assert "unknown requirement R-9, claimed by b:2" in list(table(report))


def test_no_test_claims_a_requirement_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--missing"]) == 0
    assert "all areas" in capsys.readouterr().out


def test_the_command_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json"]) == 0

    report = json.loads(capsys.readouterr().out)
    assert len(report["covered"]) + len(report["missing"]) == len(load_requirements())
