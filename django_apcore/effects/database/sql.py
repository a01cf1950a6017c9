"""What a statement that no ORM compiler wrote would do, told from its text before it runs.

The text is only the first fence. What it lets through by mistake, the counters of the database find afterwards.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Kind = Literal["read", "session", "savepoint", "suspect"]

_LONGEST_REMEMBERED = 4096
_LONGEST_SHOWN = 80

_OPAQUE = re.compile(
    r"""
    (?P<name> "(?:[^"]|"")*" )
    | --[^\n]* | /\*.*?\*/
    | (?<![\w$])E'(?:\\.|''|[^'\\])*' | '(?:''|[^'])*' | (?<![\w$])\$(?P<tag>\w*)\$.*?\$(?P=tag)\$
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
"""Quoted names, comments and literals: the parts of a statement in which words mean nothing."""

_FUNCTION = re.compile(r'(?:"((?:[^"]|"")+)"|([^\W\d][\w$]*))\s*\(')
_VERB = re.compile(r"[\s(]*([A-Za-z]+)")
_ROW_LOCK = re.compile(r"\bFOR\s+(?:NO\s+KEY\s+)?UPDATE\b", re.IGNORECASE)
_WRITING_WORD = re.compile(r"\b(?:INSERT|UPDATE|DELETE|MERGE|INTO)\b", re.IGNORECASE)
_SAVEPOINT = re.compile(
    r'(SAVEPOINT|RELEASE(?:\s+SAVEPOINT)?|ROLLBACK\s+TO(?:\s+SAVEPOINT)?)\s+"?(\w+)"?\s*$', re.IGNORECASE
)
_HARMLESS_SETTING = re.compile(
    r"SET\s+(?!TRANSACTION\b|SESSION\b|ROLE\b|(?:LOCAL\s+)?session_replication_role\b)", re.IGNORECASE
)
_EXPLAINED_READ = re.compile(
    r"EXPLAIN\s+(?:\([^)]*\)\s*|ANALYZE\s+|VERBOSE\s+|QUERY\s+PLAN\s+)*(?:SELECT|WITH|VALUES|TABLE)\b", re.IGNORECASE
)
_HARMLESS_PRAGMA = re.compile(
    r"PRAGMA\s+(?:\w+\.)?(?:foreign_key_check|foreign_key_list|foreign_keys|defer_foreign_keys|table_info|table_xinfo"
    r"|table_list|index_list|index_info|index_xinfo|query_only\s*$|schema_version\s*$|user_version\s*$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """`functions` are the names that stand before a parenthesis, lower case unless quoted, without their schema."""

    kind: Kind
    verb: str
    functions: frozenset[str]
    savepoint: str = ""
    """The savepoint that SAVEPOINT sets or ROLLBACK TO returns to."""


def read_statement(sql: str) -> Statement:
    """Judge one statement by its text."""
    return _remembered(sql) if len(sql) <= _LONGEST_REMEMBERED else _read(sql)


def shortened(sql: str) -> str:
    """One line for people, without the literals of the statement: they may be secrets."""
    text = " ".join(_OPAQUE.sub(lambda match: match["name"] or ("…" if match[0].endswith("'") else " "), sql).split())
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


def _read(sql: str) -> Statement:
    named = _OPAQUE.sub(lambda match: match["name"] or " ", sql).strip().removesuffix(";").rstrip()
    verb = match[1].upper() if (match := _VERB.match(named)) else ""
    functions = frozenset(quoted or plain.lower() for quoted, plain in _FUNCTION.findall(named))
    if savepoint := _SAVEPOINT.fullmatch(named):
        action, name = savepoint[1].upper(), savepoint[2]
        return Statement("savepoint", action.split()[0], functions, "" if action.startswith("RELEASE") else name)
    return Statement(_kind(verb, named), verb, functions)


_remembered = lru_cache(maxsize=512)(_read)


def _kind(verb: str, named: str) -> Kind:
    text = _ROW_LOCK.sub(" ", _OPAQUE.sub(" ", named))
    if ";" in text:
        return "suspect"
    match verb:
        case "SELECT" | "WITH" | "VALUES" | "TABLE" | "SHOW":
            return "suspect" if _WRITING_WORD.search(text) else "read"
        case "EXPLAIN":
            return "read" if _EXPLAINED_READ.match(text) and not _WRITING_WORD.search(text) else "suspect"
        case "PRAGMA":
            return "session" if _HARMLESS_PRAGMA.match(text.strip()) else "suspect"
        case "SET":
            return "session" if _HARMLESS_SETTING.match(text.strip()) else "suspect"
        case "LOCK":
            return "session"
        case _:
            return "suspect"
