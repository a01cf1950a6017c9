"""What every store of toggles does, in memory as in the database."""

import pytest

from apcore.toggles import Toggles
from django_apcore.stores import DatabaseToggles

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=[Toggles, DatabaseToggles])
def toggles(request: pytest.FixtureRequest) -> Toggles:
    made: Toggles = request.param()
    return made


def test_a_module_that_nobody_switched_is_on(toggles: Toggles) -> None:
    assert toggles.is_enabled("test.a")


def test_a_module_goes_off_and_on_by_itself(toggles: Toggles) -> None:
    toggles.set("test.a", False)
    assert not toggles.is_enabled("test.a")
    assert toggles.is_enabled("test.b")
    toggles.set("test.a", True)
    assert toggles.is_enabled("test.a")


def test_switching_twice_is_switching_once(toggles: Toggles) -> None:
    toggles.set("test.a", False)
    toggles.set("test.a", False)
    toggles.set("test.a", True)
    toggles.set("test.a", True)
    assert toggles.is_enabled("test.a")


def test_after_a_refresh_they_are_not_stale(toggles: Toggles) -> None:
    toggles.set("test.a", False)
    toggles.refresh()
    assert not toggles.is_stale
    assert not toggles.is_enabled("test.a")
