"""Checks that the decision records share one format, and writes their index.

python tools/decision_records.py                # exit status 1 and the reasons when something is wrong
python tools/decision_records.py --write-index
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "decisions"
SECTIONS = ("Status", "Problem", "Decision", "Alternatives considered", "Consequences")

_FILE_NAME = re.compile(r"(\d{4})-[a-z0-9]+(-[a-z0-9]+)*\.md")
_STATUS = re.compile(r"Proposed|Accepted|Rejected|Superseded by \[\d{4}\]\((?P<successor>[^)]+)\)")
_INDEX_HEAD = """\
# Decisions

Why things are as they are. One record per decision, never rewritten: a decision that changes gets a new record, and
the old one says which. A new record starts from the [template](template.md); this list is written by `make format`.

| | Decision | Status |
|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Record:
    file: Path
    title: str
    sections: dict[str, str]

    @property
    def number(self) -> str:
        return self.file.name[:4]

    @property
    def status(self) -> str:
        return self.sections.get("Status", "")


def read_record(file: Path) -> Record:
    title, _, body = file.read_text(encoding="utf-8").partition("\n")
    parts = re.split(r"^## (.+)$", body, flags=re.MULTILINE)
    sections = {name.strip(): text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}
    return Record(file, title.removeprefix("# ").strip() if title.startswith("# ") else "", sections)


def read_records(folder: Path) -> list[Record]:
    return [read_record(file) for file in sorted(folder.glob("[0-9]*.md"))]


def problems_of(record: Record) -> Iterator[str]:
    if not _FILE_NAME.fullmatch(record.file.name):
        yield "the file name must look like 0007-some-words.md"
    if not record.title:
        yield "the first line must be the title: # Title"
    if tuple(record.sections) != SECTIONS:
        yield f"the sections must be, in this order: {', '.join(SECTIONS)}"
    yield from (f"section {name} is empty" for name, text in record.sections.items() if not text)
    yield from _status_problems(record)


def _status_problems(record: Record) -> Iterator[str]:
    status = _STATUS.fullmatch(record.status)
    if status is None:
        yield "the status must be Proposed, Accepted, Rejected or Superseded by [0007](0007-some-words.md)"
    elif (successor := status["successor"]) and not (record.file.parent / successor).is_file():
        yield f"the record that supersedes it, {successor}, does not exist"


def problems_in(folder: Path) -> Iterator[str]:
    records = read_records(folder)
    for position, record in enumerate(records, start=1):
        if record.number != f"{position:04}":
            yield f"{record.file.name}: number {position:04} comes next"
        yield from (f"{record.file.name}: {problem}" for problem in problems_of(record))
    index = folder / "index.md"
    if not index.is_file() or index.read_text(encoding="utf-8") != index_of(records):
        yield "index.md is out of date: run make format"


def index_of(records: Sequence[Record]) -> str:
    rows = (f"| {each.number} | [{each.title}]({each.file.name}) | {each.status} |\n" for each in records)
    return _INDEX_HEAD + "".join(rows)


def main(arguments: Sequence[str] | None = None, folder: Path = FOLDER) -> int:
    parser = argparse.ArgumentParser(description="Check the decision records.")
    parser.add_argument("--write-index", action="store_true", help="write index.md anew before checking")
    if parser.parse_args(arguments).write_index:
        (folder / "index.md").write_text(index_of(read_records(folder)), encoding="utf-8")
    problems = list(problems_in(folder))
    for problem in problems:
        print(f"docs/decisions: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
