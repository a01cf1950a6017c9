"""Links between the README and the manual lead somewhere. Inside of docs/ the strict build checks them, too."""

import re
from pathlib import Path

import pytest

from tests.docs.markdown import PAGES, page_name

LINK = re.compile(r"!?\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_relative_links_lead_to_files(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))

    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]

    assert missing == []
