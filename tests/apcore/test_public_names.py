"""Names that were published stay, until the next major version."""

from pathlib import Path

import pytest

import apcore
from apcore import errors

PUBLISHED = (Path(__file__).parent / "public_names.txt").read_text(encoding="utf-8").split()


@pytest.mark.req("R-13.5-04", "R-13.2-01")
def test_no_published_name_is_gone():
    gone = [name for name in PUBLISHED if not hasattr(apcore, name) or name not in apcore.__all__]

    assert gone == [], "a published name leaves with a major version, after two minor ones in which it was deprecated"


def test_the_list_is_in_order_and_names_nothing_twice():
    assert sorted(set(PUBLISHED)) == PUBLISHED


@pytest.mark.req("R-8.7-04")
def test_every_error_of_the_protocol_can_be_imported_from_the_top():
    classes = [name for name in errors.__all__ if name.endswith("Error")]

    assert [name for name in classes if getattr(apcore, name, None) is not getattr(errors, name)] == []
