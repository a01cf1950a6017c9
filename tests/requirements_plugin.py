"""A pytest plugin that writes down which tests claim which requirements; tests/requirements_report.py loads it."""

import json
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--claims", metavar="FILE", required=True, help="where to write the claims, as JSON")


def pytest_collection_finish(session: pytest.Session) -> None:
    claims: dict[str, list[str]] = {}
    for item in session.items:
        for requirement in dict.fromkeys(name for mark in item.iter_markers("req") for name in mark.args):
            claims.setdefault(requirement, []).append(item.nodeid)
    Path(session.config.getoption("--claims")).write_text(json.dumps(claims), encoding="utf-8")
