"""Figures of calls as the usage pages show them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apcore.telemetry.usage_reports import CallFigures

_BAD: Final = 0.1
"""Above this share of errors of its own, a module is marked."""


@dataclass(frozen=True, slots=True)
class Window:
    """How far the figures reach back."""

    hours: int
    name: str | Promise


WINDOWS: Final = (
    Window(1, _("This hour")),
    Window(24, _("24 hours")),
    Window(168, _("7 days")),
    Window(720, _("30 days")),
)


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One line of a table: a module, or a kind of caller."""

    name: str
    figures: CallFigures
    tone: str
    """How its errors are marked: ``good``, ``warn`` or ``bad``."""


def window_of(hours: str | None) -> Window:
    """The window that was asked for; what is none becomes the usual one, a day."""
    return next((each for each in WINDOWS if str(each.hours) == hours), WINDOWS[1])


def module_rows(figures: Mapping[str, CallFigures]) -> list[FigureRow]:
    """Lines in the order of the figures."""
    return [FigureRow(name, each, _tone(each)) for name, each in figures.items()]


def _tone(figures: CallFigures) -> str:
    if not figures.error_count:
        return "good"
    return "bad" if (figures.fault_rate or 0) > _BAD else "warn"
