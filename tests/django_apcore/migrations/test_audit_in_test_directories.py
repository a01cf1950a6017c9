"""Which SQLite files may be emptied of their audit trail."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

TABLE = "django_apcore_auditentry"


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database as the migrations make it, in a directory whose name says nothing."""
    place = tmp_path_factory.mktemp("made")
    env = os.environ | {"APCORE_VAR_DIR": str(place), "DJANGO_SETTINGS_MODULE": "project.settings"}
    env |= {"APCORE_DATABASE_URL": f"sqlite:///{place / 'made.sqlite3'}"}
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], env=env, check=True)
    with closing(sqlite3.connect(place / "made.sqlite3")) as connection:
        columns = connection.execute(f"PRAGMA table_info({TABLE})").fetchall()
        values = ["'{}'" if "JSON" in str(each) or each[1] == "data" else "1" for each in columns]
        connection.execute(f"INSERT INTO {TABLE} VALUES ({', '.join(values)})")
        connection.commit()
    return place / "made.sqlite3"


@pytest.mark.parametrize(
    ("file", "may_go"),
    [
        ("test_site/db.sqlite3", False),
        ("test_site/latest_test_x.sqlite3", False),
        ("db.sqlite3", False),
        ("test_db.sqlite3", True),
        ("test_site/test_db.sqlite3", True),
    ],
)
def test_only_the_name_of_the_file_says_that_it_is_for_tests(
    migrated: Path, tmp_path: Path, file: str, may_go: bool
) -> None:
    copy = tmp_path / file
    copy.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(migrated)) as source, closing(sqlite3.connect(copy)) as connection:
        source.backup(connection)
        if may_go:
            assert connection.execute(f"DELETE FROM {TABLE}").rowcount == 1
        else:
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(f"DELETE FROM {TABLE}")
