"""The reference of the REST endpoints leaves none of them out, nor a code that they alone answer with."""

import re
from pathlib import Path

import pytest

from django_apcore.api.urls import urlpatterns
from tests.docs.markdown import ROOT

TEXT = (ROOT / "docs/reference/rest.md").read_text(encoding="utf-8")
ROUTES = [re.sub(r"<[^>]+>", "{id}", str(each.pattern)) for each in urlpatterns if each.name != "unknown"]
CODES = sorted(
    {
        code
        for file in Path(ROOT / "django_apcore/api").rglob("*.py")
        for code in re.findall(r'"((?:REQUEST|IDEMPOTENCY)_[A-Z_]+)"', file.read_text(encoding="utf-8"))
    }
    - {"REQUEST_REFUSED"}  # what the others are kinds of
)


@pytest.mark.parametrize("route", ROUTES)
def test_every_endpoint_has_a_row(route: str) -> None:
    assert re.search(rf"^\| .*`(?:GET|POST) {re.escape(route)}`.* \|$", TEXT, re.MULTILINE)


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_row(code: str) -> None:
    assert re.search(rf"^\| `{code}` \| \d{{3}}", TEXT, re.MULTILINE)
