"""`usage`: how often modules were called, and which errors they had."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from apcore.telemetry.usage_reports import CallFigures, ModuleUsage
from django_apcore import runtime
from django_apcore.management.subcommands.base import (
    Answer,
    Options,
    Subcommand,
    counted,
    fields,
    module_id_of,
    number,
    table,
)
from django_apcore.management.terminal import Table

_HEADINGS = ("CALLS", "ERRORS", "MEAN MS", "P50", "P95", "P99", "LAST CALL")


def usage(options: Options) -> Answer:
    """Figures of all modules, or of one with its callers and its hours."""
    collector = runtime.get().app.usage
    if options["prune"]:
        gone = collector.prune()
        return Answer({"pruned": gone}, [f"{counted(gone, 'row')} merged into days or dropped."])
    if options["module_id"] is None:
        summary = collector.summary(options["hours"], caller_type=options["caller_type"])
        rows = [(name, *_cells(figures)) for name, figures in summary.modules.items()]
        total = f"{counted(summary.total_calls, 'call')}, {counted(summary.total_errors, 'error')} in all."
        return Answer(summary.to_dict(), [*table(rows, "MODULE", *_HEADINGS), total])
    module_id = _module_with_figures(options)
    found = collector.module(module_id, options["hours"], caller_type=options["caller_type"])
    return Answer(found.to_dict(), _told(found))


def errors(options: Options) -> Answer:
    """The latest kinds of errors, without any text that may be secret."""
    module_id = None if options["module_id"] is None else module_id_of(options)
    entries = runtime.get().app.error_history.entries(module_id, options["limit"])
    rows = [
        (
            _time(datetime.fromtimestamp(entry.last_at, UTC)),
            entry.count,
            entry.module_id,
            entry.code,
            entry.kind,
            entry.message,
        )
        for entry in entries
    ]
    data = [entry.to_dict() for entry in entries]
    return Answer(data, table(rows, "LAST", "TIMES", "MODULE", "CODE", "KIND", "MESSAGE"))


def _module_with_figures(options: Options) -> str:
    """The module that is meant. One that has gone has figures; ModuleNotFoundError where there are none either."""
    built, module_id = runtime.get(), module_id_of(options)
    if not built.registry.has(module_id) and not built.app.usage.module(module_id, options["hours"]).figures.call_count:
        built.registry.get_definition(module_id)
    return module_id


def _told(found: ModuleUsage) -> list[str | Table]:
    figures = dict(
        zip(("calls", "errors", "mean ms", "p50", "p95", "p99", "last call"), _cells(found.figures), strict=True)
    )
    callers = [(kind, *_cells(each)) for kind, each in found.callers.items()]
    hours = [(f"{each.start:%Y-%m-%d %H:%M}", each.hours, *_cells(each.figures)) for each in found.trend]
    return [
        *fields({"module": found.module_id, **figures}),
        "",
        *table(callers, "CALLERS", *_HEADINGS),
        "",
        *table(hours, "FROM (UTC)", "HOURS", *_HEADINGS),
    ]


def _cells(figures: CallFigures) -> tuple[Any, ...]:
    last = _time(figures.last_called_at) if figures.last_called_at else "–"
    times = (figures.avg_latency_ms, figures.p50_latency_ms, figures.p95_latency_ms, figures.p99_latency_ms)
    return (figures.call_count, figures.error_count, *map(_milliseconds, times), last)


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def _milliseconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def _usage_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("module_id", nargs="?", help="only this module, with its callers and its hours")
    parser.add_argument("--hours", type=number, default=24, help="the current hour and those before it; 24 by default")
    parser.add_argument("--caller-type", help="only calls of this kind of caller")
    parser.add_argument("--prune", action="store_true", help="merge old hours into days and drop old days, now")


def _errors_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("module_id", nargs="?", help="only this module")
    parser.add_argument("--limit", type=number, default=20)


SUBCOMMANDS = (
    Subcommand("usage", "Show how often modules were called.", usage, _usage_arguments),
    Subcommand("errors", "Show which errors modules had lately.", errors, _errors_arguments),
)
