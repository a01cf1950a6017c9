"""Processes that race on a database of their own, on whichever kind of database is under test."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests import services


@dataclass
class Racer:
    """One process, and the lines that go to it and come back."""

    process: subprocess.Popen[str]

    def tell(self, do: str, at: float = 0, /, **arguments: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"do": do, "at": at, "with": arguments}) + "\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "the process is gone"}

    def do(self, do: str, /, **arguments: Any) -> Any:
        """Do one thing and return the answer."""
        self.tell(do, **arguments)
        heard = self.hear()
        assert "error" not in heard, heard
        return heard["answer"]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@dataclass
class Arena:
    """The database, and all processes on it."""

    environment: dict[str, str]
    racers: list[Racer] = field(default_factory=list)

    def start(self, **environment: str) -> Racer:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.django_apcore.races.racer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**self.environment, **environment},
        )
        racer = Racer(process)
        self.racers.append(racer)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return racer

    def race(self, *moves: tuple[Racer, str, dict[str, Any]]) -> list[Any]:
        """Let several processes each make a move at the same instant. Returns what each said."""
        at = time.time() + 0.05
        for racer, do, arguments in moves:
            racer.tell(do, at, **arguments)
        return [racer.hear() for racer, _, _ in moves]

    def close(self) -> None:
        for racer in self.racers:
            if racer.process.stdin is not None:
                racer.process.stdin.close()
            racer.process.wait(timeout=20)
            if racer.process.stdout is not None:
                racer.process.stdout.close()


@pytest.fixture(scope="session")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    directory = tmp_path_factory.mktemp("race")
    databases = _PostgresqlDatabases() if _is_postgresql() else _SqliteDatabases(directory)
    default, other = databases.create()
    arena = Arena(
        {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "APCORE_DATABASE_URL": default,
            "APCORE_OTHER_DATABASE_URL": other,
            "APCORE_BROKER_URL": "memory://",
            "APCORE_LOG_LEVEL": "CRITICAL",
            "RACE_DIR": str(directory),
        }
    )
    try:
        migrate = [sys.executable, "-m", "django", "migrate", "--verbosity=0", "--database"]
        for alias in ("default", "other"):
            subprocess.run([*migrate, alias], env=arena.environment, check=True)
        arena.start().do("setup")
        yield arena
    finally:
        arena.close()
        databases.drop()


@pytest.fixture(scope="session")
def first(arena: Arena) -> Racer:
    return arena.racers[0]


@pytest.fixture(scope="session")
def second(arena: Arena) -> Racer:
    return arena.start()


@pytest.fixture
def race_dir(arena: Arena) -> Path:
    return Path(arena.environment["RACE_DIR"])


def _is_postgresql() -> bool:
    return os.environ.get("APCORE_TEST_DATABASE", "sqlite") == "postgresql"


class _SqliteDatabases:
    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def create(self) -> tuple[str, str]:
        return f"sqlite:///{self._directory}/default.sqlite3", f"sqlite:///{self._directory}/other.sqlite3"

    def drop(self) -> None:
        """The directory goes with the test session."""


class _PostgresqlDatabases:
    def __init__(self) -> None:
        self._names = [f"race_{alias}_{uuid.uuid4().hex[:8]}" for alias in ("default", "other")]

    def create(self) -> tuple[str, str]:
        self._execute("CREATE DATABASE {}")
        base = services.POSTGRESQL_URL.rpartition("/")[0]
        default, other = (f"{base}/{name}" for name in self._names)
        return default, other

    def drop(self) -> None:
        self._execute("DROP DATABASE {} WITH (FORCE)")

    def _execute(self, statement: str) -> None:
        with psycopg.connect(services.POSTGRESQL_URL, autocommit=True) as connection:
            for name in self._names:
                connection.execute(statement.format(name))
