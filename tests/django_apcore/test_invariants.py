"""Who watches for what cannot happen: the tests and the reference project, nobody else."""

from typing import Any

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings

from apcore.middleware.builtin.invariants import InvariantsMiddleware
from django_apcore import runtime
from django_apcore.conf import ApcoreSettings
from project import settings as project_settings

pytestmark = pytest.mark.django_db


def subscribers(mode: str) -> list[Any]:
    with override_settings(APCORE={**settings.APCORE, "INVARIANTS": mode}):
        events = runtime.build().app.events
    return [each.subscriber for each in events._subscriptions if isinstance(each.subscriber, InvariantsMiddleware)]


@pytest.mark.req("RV-14")
def test_it_is_off_by_default_on_in_tests_and_in_the_reference_project() -> None:
    assert ApcoreSettings().invariants == "off"
    assert settings.APCORE["INVARIANTS"] == "raise"
    assert project_settings.APCORE["INVARIANTS"] == "log"


@pytest.mark.req("RV-14")
@pytest.mark.parametrize(("mode", "listeners"), [("off", 0), ("log", 1), ("raise", 1)])
def test_the_setting_adds_a_listener_and_nothing_else(mode: str, listeners: int) -> None:
    assert len(subscribers(mode)) == listeners


def test_another_word_is_refused() -> None:
    with pytest.raises(ImproperlyConfigured, match="off, log or raise"):
        subscribers("warn")
