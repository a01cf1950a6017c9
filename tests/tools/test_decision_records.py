"""The decision records of this repository are well formed, and a record that is not is caught."""

from pathlib import Path

import pytest

from tools.decision_records import FOLDER, SECTIONS, index_of, main, problems_in, read_records

GOOD = "# A title\n\n" + "".join(
    f"## {name}\n\n{'Accepted' if name == 'Status' else 'Words.'}\n\n" for name in SECTIONS
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "0001-first.md").write_text(GOOD)
    (tmp_path / "0002-second.md").write_text(GOOD.replace("Accepted", "Superseded by [0001](0001-first.md)"))
    write_index(tmp_path)
    return tmp_path


def write_index(folder: Path) -> None:
    (folder / "index.md").write_text(index_of(read_records(folder)))


def test_the_records_of_this_repository_are_well_formed() -> None:
    assert list(problems_in(FOLDER)) == []


def test_well_formed_records_have_no_problems(folder: Path) -> None:
    assert list(problems_in(folder)) == []
    assert main([], folder) == 0


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("# A title", "A title", "the first line must be the title"),
        ("## Problem", "## Context", "the sections must be, in this order"),
        ("## Consequences\n\nWords.", "## Consequences\n", "section Consequences is empty"),
        ("Accepted", "Maybe", "the status must be"),
        ("Accepted", "Superseded by [0009](0009-none.md)", "0009-none.md, does not exist"),
    ],
)
def test_a_fault_is_named(folder: Path, old: str, new: str, problem: str) -> None:
    (folder / "0001-first.md").write_text(GOOD.replace(old, new))
    write_index(folder)

    assert any(problem in each and each.startswith("0001-first.md") for each in problems_in(folder))


def test_sections_in_another_order_are_refused(folder: Path) -> None:
    status, rest = GOOD.index("## Status"), GOOD.index("## Problem")
    (folder / "0001-first.md").write_text(GOOD[:status] + GOOD[rest:] + GOOD[status:rest])

    assert any("in this order" in each for each in problems_in(folder))


def test_numbers_have_no_gaps(folder: Path) -> None:
    (folder / "0002-second.md").rename(folder / "0003-second.md")
    write_index(folder)

    assert list(problems_in(folder)) == ["0003-second.md: number 0002 comes next"]


def test_a_file_name_in_another_style_is_refused(folder: Path) -> None:
    (folder / "0003-Third_One.md").write_text(GOOD)
    write_index(folder)

    assert list(problems_in(folder)) == ["0003-Third_One.md: the file name must look like 0007-some-words.md"]


def test_an_index_out_of_date_is_noticed_and_written_anew(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "index.md").write_text("# Decisions\n")

    assert main([], folder) == 1
    assert "index.md is out of date" in capsys.readouterr().out
    assert main(["--write-index"], folder) == 0
    assert "[A title](0002-second.md)" in (folder / "index.md").read_text()
