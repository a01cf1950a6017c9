"""Figures that take a while."""

import time
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from apcore import Context, ModuleAnnotations, module
from project.store.accounting import NOTHING, MonthFigures, month_figures, months


@dataclass(frozen=True, slots=True)
class RevenueReport:
    months: list[MonthFigures]
    revenue: Decimal
    refunded: Decimal


@module(
    id="store.reports.revenue",
    tags=["reports"],
    annotations=ModuleAnnotations(readonly=True, idempotent=True, open_world=False),
)
def revenue(
    context: Context,
    year: Annotated[int | None, Field(ge=1900, le=9999, description="One year only; without it, all of them")] = None,
    pause_ms: Annotated[int, Field(ge=0, le=1000, description="Rest between months, to spare the database")] = 0,
) -> RevenueReport:
    """Add up revenue and refunds month by month; long, so better submitted than called."""
    wanted = [month for month in months() if year in {None, month.year}]
    figures = []
    for done, month in enumerate(wanted, start=1):
        if context.cancel_token is not None:
            context.cancel_token.check()
        figures.append(month_figures(month))
        context.report_progress(done, len(wanted), f"{month:%B %Y}")
        time.sleep(pause_ms / 1000)
    return RevenueReport(
        months=figures,
        revenue=sum((month.revenue for month in figures), NOTHING),
        refunded=sum((month.refunded for month in figures), NOTHING),
    )
