"""Telling the story: each step's title, what was checked, whether it held; on the terminal and in the report."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

SIGNS = {"insert": ("+", "green"), "update": ("~", "yellow"), "delete": ("-", "red")}


class BrokenPromiseError(Exception):
    """A check did not hold: the rest of its step makes no sense."""


@dataclass(slots=True)
class Step:
    name: str
    title: str
    ok: bool = False
    seconds: float = 0.0
    checks: list[str] = field(default_factory=list)
    error: str = ""


@dataclass(slots=True)
class Story:
    console: Console
    steps: list[Step] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def ok(self) -> bool:
        return bool(self.steps) and all(step.ok for step in self.steps)

    def headline(self, text: str) -> None:
        self.console.print()
        self.console.print(Text(text, style="bold underline"))

    def say(self, text: str) -> None:
        self.console.print(Text(f"  {text}", style="dim"))

    def warn(self, text: str) -> None:
        self.console.print(Text(f"  ! {text}", style="yellow"))

    def show_changes(self, changes: Sequence[Mapping[str, Any]], total: int) -> None:
        """Some changes of a preview, marked by sign and colour."""
        for change in changes:
            sign, style = SIGNS.get(change["action"], ("»", "cyan"))
            line = Text(f"      {sign} {change['summary']}", style=style)
            self.console.print(line, overflow="ellipsis", no_wrap=True)
        if total > len(changes):
            self.say(f"    … and {total - len(changes)} more")

    def table(self, title: str, columns: list[str], rows: list[list[str]]) -> None:
        table = Table(title=title or None, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
        for column in columns:
            table.add_column(column, no_wrap=True)
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        self.console.print(table)

    def check(self, holds: bool, text: str, otherwise: object = "") -> None:
        """Say that `text` holds, or end the step with what was seen instead. Raises BrokenPromiseError."""
        if not holds:
            raise BrokenPromiseError(f"Not so: {text}" + (f" (instead: {otherwise})" if otherwise != "" else ""))
        self.steps[-1].checks.append(text)
        self.console.print(Text("  ✓ ", style="bold green").append(text, style="default"))

    def tell(self, name: str, title: str, act: Callable[[], None]) -> None:
        """Run one step. Whatever goes wrong in it is shown and recorded, and the story goes on with the next."""
        step = Step(name, title)
        self.steps.append(step)
        self.headline(f"{len(self.steps)}. {title}")
        started = time.monotonic()
        try:
            act()
            step.ok = True
        except Exception as error:  # noqa: BLE001 - the report must tell of every failure, whatever its kind
            step.error = str(error) if isinstance(error, BrokenPromiseError) else f"{type(error).__name__}: {error}"
            self.console.print(Text(f"  ✗ {step.error}", style="bold red"))
        finally:
            step.seconds = round(time.monotonic() - started, 2)

    def write(self, file: Path) -> None:
        """The report, whole or not at all."""
        report = {
            "ok": self.ok,
            "started_at": self.started_at.isoformat(),
            "finished_at": datetime.now(UTC).isoformat(),
            **self.figures,
            "steps": [asdict(step) for step in self.steps],
        }
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".draft")
        draft.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        draft.replace(file)
