"""Tables: drawn to the width of the terminal where rich is installed and somebody looks, aligned text elsewhere."""

import io
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under headings."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def as_text(parts: Sequence[str | Table], *, is_drawn: bool) -> str:
    """Lines and tables as one text; `is_drawn` asks for tables as a terminal can show them."""
    draw = _drawn if is_drawn and find_spec("rich") else _aligned
    return "\n".join(part if isinstance(part, str) else draw(part) for part in parts)


def _aligned(table: Table) -> str:
    cells = [table.headings, *table.rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(table.headings))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(line.rstrip() for line in lines)


def _drawn(table: Table) -> str:
    """With long texts wrapped. What stands in a cell is text, never markup of the library."""
    text = import_module("rich.text").Text
    drawn = import_module("rich.table").Table(header_style="bold")
    for heading in table.headings:
        drawn.add_column(heading, overflow="fold")
    for row in table.rows:
        drawn.add_row(*(text(cell) for cell in row))
    width = shutil.get_terminal_size().columns
    console = import_module("rich.console").Console(file=io.StringIO(), force_terminal=True, width=width)
    console.print(drawn)
    return str(console.file.getvalue()).rstrip("\n")
