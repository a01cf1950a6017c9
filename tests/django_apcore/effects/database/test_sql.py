"""Telling from the text what a statement would do."""

import pytest

from django_apcore.effects.database.sql import read_statement, shortened

READS = [
    "SELECT 1",
    "  select * from t where a = 'DELETE FROM x; COMMIT'",
    'SELECT "update", "delete" FROM "insert"',
    "SELECT 1 -- ; DELETE FROM t",
    "SELECT 1 /* UPDATE t */;",
    "(SELECT 1) UNION (SELECT 2)",
    "SELECT * FROM t FOR UPDATE",
    "SELECT * FROM t FOR NO KEY UPDATE OF t SKIP LOCKED",
    "WITH x AS (SELECT 1) SELECT * FROM x",
    "VALUES (1), (2)",
    "TABLE t",
    "SHOW transaction_isolation",
    "EXPLAIN SELECT 1",
    "EXPLAIN (ANALYZE, FORMAT JSON) SELECT 1",
    "EXPLAIN QUERY PLAN SELECT 1",
    "SELECT replace(a, 'b', 'c'), E'it''s \\' DELETE' FROM t",
    "SELECT $$ DELETE FROM t; $$, $tag$ UPDATE $tag$",
    "SELECT 'unfinished",
]
SESSIONS = [
    "SET LOCAL statement_timeout = 5",
    "SET CONSTRAINTS ALL IMMEDIATE",
    "SET search_path = tenant",
    "PRAGMA foreign_key_check(t)",
    "PRAGMA table_info(t)",
    "PRAGMA foreign_keys",
    "LOCK TABLE t IN SHARE MODE",
]
SAVEPOINTS = {
    'SAVEPOINT "s1_x1"': "s1_x1",
    "ROLLBACK TO SAVEPOINT s1": "s1",
    "ROLLBACK TO s1;": "s1",
    "RELEASE SAVEPOINT s1": "",
}
SUSPECTS = [
    "",
    "UPDATE t SET a = 1",
    "INSERT INTO t VALUES (1)",
    "DELETE FROM t",
    "/* SELECT */ DELETE FROM t",
    "-- SELECT\nDELETE FROM t",
    "MERGE INTO t USING s ON a WHEN MATCHED THEN DELETE",
    "REPLACE INTO t VALUES (1)",
    "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x",
    "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x",
    "SELECT * INTO t2 FROM t",
    "SELECT 1; DELETE FROM t",
    "SELECT 'a'; COMMIT",
    "TRUNCATE t",
    "CREATE TABLE t (a int)",
    "ALTER TABLE t DISABLE TRIGGER ALL",
    "DROP TABLE t",
    "COPY t TO PROGRAM 'sh'",
    "CALL p()",
    "DO $$ BEGIN END $$",
    "EXECUTE prepared",
    "PREPARE p AS DELETE FROM t",
    "COMMIT",
    "END",
    "ROLLBACK",
    "BEGIN",
    "PREPARE TRANSACTION 'x'",
    "SAVEPOINT a; COMMIT",
    "RELEASE a; COMMIT",
    "EXPLAIN ANALYZE DELETE FROM t",
    "EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1",
    "EXPLAIN EXECUTE p",
    "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
    "SET ROLE postgres",
    "SET session_replication_role = replica",
    "PRAGMA writable_schema = 1",
    "PRAGMA user_version = 3",
    "PRAGMA wal_checkpoint",
    "VACUUM",
    "NOTIFY channel",
    "DISCARD ALL",
    "REFRESH MATERIALIZED VIEW v",
]


@pytest.mark.parametrize("sql", READS)
def test_reads(sql: str) -> None:
    assert read_statement(sql).kind == "read"


@pytest.mark.parametrize("sql", SESSIONS)
def test_settings_of_the_session(sql: str) -> None:
    assert read_statement(sql).kind == "session"


@pytest.mark.parametrize(("sql", "name"), SAVEPOINTS.items())
def test_savepoints(sql: str, name: str) -> None:
    statement = read_statement(sql)
    assert (statement.kind, statement.savepoint) == ("savepoint", name)


@pytest.mark.parametrize("sql", SUSPECTS)
def test_suspects(sql: str) -> None:
    assert read_statement(sql).kind == "suspect"


def test_functions_are_found_under_any_spelling() -> None:
    sql = """SELECT LOWER(a), pg_catalog.NextVal('s'), "Odd Name" (1), schema."quoted"(2), f
             (3), 'hidden(1)', /* gone(1) */ 4 FROM t"""
    assert read_statement(sql).functions == {"lower", "nextval", "Odd Name", "quoted", "f"}


def test_long_statements_are_read_and_not_remembered() -> None:
    assert read_statement(f"SELECT 1 WHERE 1 IN ({', '.join(['%s'] * 5000)})").kind == "read"
    assert read_statement(f"SELECT 1 WHERE 1 IN ({', '.join(['%s'] * 5000)}); DELETE FROM t").kind == "suspect"


def test_the_short_form_shows_no_literals() -> None:
    sql = "UPDATE \"user\"  SET password = 'secret', note = E'it\\'s',\n body = $x$ secret $x$ WHERE id = 5 -- secret"
    assert shortened(sql) == 'UPDATE "user" SET password = …, note = …, body = WHERE id = 5'
    assert len(shortened("SELECT " + "a, " * 100)) == 80
