"""What really happened, asked of the database file itself and of the files that mail and payments leave behind."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any

from project.demo.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Evidence:
    workspace: Workspace

    def snapshot(self) -> Path:
        """A copy of the database as it is now, to count against later."""
        copy = self.workspace.folder / "before.sqlite3"
        copy.unlink(missing_ok=True)
        with self._connection() as now, closing(sqlite3.connect(copy)) as then:
            now.backup(then)
        return copy

    def rows_changed_since(self, snapshot: Path) -> dict[str, int]:
        """How many rows of the store differ, `{"store_invoice:delete": 7}`: counted by the database, in SQL."""
        counts = {}
        with self._connection() as connection:
            connection.execute("ATTACH ? AS earlier", (snapshot.as_uri() + "?mode=ro",))
            for table in _store_tables(connection):
                for action, number in _difference(connection, table):
                    if number:
                        counts[f"{table}:{action}"] = number
        return counts

    def value(self, sql: str, *parameters: Any) -> Any:
        with self._connection() as connection:
            return connection.execute(sql, parameters).fetchone()[0]

    def revenue(self) -> str:
        """All that was ever sold, to the cent: invoices, and what erased invoices left behind."""
        sold = self.value("SELECT coalesce(sum(total), 0) FROM store_invoice")
        kept = self.value("SELECT coalesce(sum(revenue), 0) FROM store_accountingtotal")
        return f"{sold + kept:.2f}"

    def mails(self) -> list[Message]:
        """What the mail server would have got."""
        messages = []
        for file in sorted(self.workspace.mail.glob("*.log")):
            parts = file.read_bytes().split(b"\n" + b"-" * 79 + b"\n")
            messages += [message_from_bytes(part) for part in parts if part.strip()]
        return messages

    def payments(self) -> list[dict[str, Any]]:
        """The payment gateway's book."""
        file = self.workspace.payments
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with closing(
            sqlite3.connect(f"{self.workspace.database.as_uri()}?mode=ro", uri=True, timeout=20)
        ) as connection:
            yield connection


def _store_tables(connection: sqlite3.Connection) -> list[str]:
    named = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'store\\_%' ESCAPE '\\' ORDER BY name"
    return [name for (name,) in connection.execute(named)]


def _difference(connection: sqlite3.Connection, table: str) -> Iterator[tuple[str, int]]:
    (key,) = [name for _, name, *_, pk in connection.execute(f"PRAGMA table_info({table})") if pk]

    def count(query: str) -> int:
        return int(connection.execute(f"SELECT count(*) FROM ({query})").fetchone()[0])

    inserted = count(f"SELECT 1 FROM main.{table} WHERE {key} NOT IN (SELECT {key} FROM earlier.{table})")
    deleted = count(f"SELECT 1 FROM earlier.{table} WHERE {key} NOT IN (SELECT {key} FROM main.{table})")
    now_other = count(f"SELECT * FROM main.{table} EXCEPT SELECT * FROM earlier.{table}")
    yield "insert", inserted
    yield "update", now_other - inserted
    yield "delete", deleted
