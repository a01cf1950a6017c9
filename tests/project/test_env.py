"""What the reference project makes of its environment."""

import stat
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from project import env

FILE = Path("db.sqlite3")


@pytest.fixture(autouse=True)
def no_database_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("APCORE_DATABASE_NAME", "APCORE_DATABASE_USER", "APCORE_SECRET_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("Yes", True), ("off", False), ("", False)])
def test_a_flag_is_yes_or_no(monkeypatch: pytest.MonkeyPatch, value: str, expected: bool) -> None:
    monkeypatch.setenv("SOME_FLAG", value)

    assert env.flag("SOME_FLAG", default=not expected) is expected


def test_a_mistyped_flag_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_FLAG", "ture")

    with pytest.raises(ImproperlyConfigured, match="SOME_FLAG must be one of"):
        env.flag("SOME_FLAG")


def test_an_absent_flag_has_its_default() -> None:
    assert env.flag("APCORE_NO_SUCH_FLAG", default=True) is True


def test_words_lose_their_blanks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_WORDS", " a, b,,")

    assert env.words("SOME_WORDS") == ["a", "b"]


def test_without_a_url_the_database_is_a_file() -> None:
    database = env.database("", FILE)

    assert database["NAME"] == str(FILE)
    assert database["OPTIONS"]["transaction_mode"] == "IMMEDIATE"


@pytest.mark.parametrize(
    ("url", "name"), [("sqlite:///var/a.db", "var/a.db"), ("sqlite:////srv/a%20b.db", "/srv/a b.db")]
)
def test_a_file_may_be_named_by_a_url(url: str, name: str) -> None:
    assert env.database(url, FILE)["NAME"] == name


def test_postgresql_is_named_by_a_url() -> None:
    database = env.database("postgresql://me:p%40ss@db.example:5433/shop", FILE)

    wanted = {"NAME": "shop", "USER": "me", "PASSWORD": "p@ss", "HOST": "db.example", "PORT": "5433"}
    assert wanted.items() <= database.items()


def test_postgresql_is_named_by_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APCORE_DATABASE_NAME", "shop")
    monkeypatch.setenv("APCORE_DATABASE_USER", "me")

    database = env.database("", FILE)

    assert database["ENGINE"] == "django.db.backends.postgresql"
    assert {"NAME": "shop", "USER": "me", "HOST": ""}.items() <= database.items()


def test_an_unknown_database_is_refused_without_its_password() -> None:
    with pytest.raises(ImproperlyConfigured, match="Unknown database scheme 'mysql'") as caught:
        env.database("mysql://me:secret@db/shop", FILE)

    assert "secret" not in str(caught.value)


def test_the_secret_key_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "secret_key"

    key = env.secret_key(file)

    assert len(key) > 50
    assert env.secret_key(file) == key
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_the_environment_names_the_secret_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APCORE_SECRET_KEY", "given")

    assert env.secret_key(tmp_path / "secret_key") == "given"
    assert not (tmp_path / "secret_key").exists()


def test_processes_that_start_together_agree_on_one_key(tmp_path: Path) -> None:
    files = [tmp_path / "secret_key"] * 8

    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as processes:
        keys = set(processes.map(env.secret_key, files))

    assert len(keys) == 1
